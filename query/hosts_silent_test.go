package query

import (
	"errors"
	"testing"
)

// Each of them may hold something else.
func TestSeveralAddressesOfWhichNoneTellsAreRefused(t *testing.T) {
	config := Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Database: "motorpool", User: "motorpool"}
	if err := config.oneStore(t.Context()); !errors.Is(err, ErrSeveralStores) {
		t.Errorf("nobody told what it holds: %v", err)
	}
}
