//go:build long

package fact_test

import (
	"fmt"
	"testing"
)

// TestFactsOfManyRandomHistoriesAreThoseCountedSecondBySecond has each zone be the first once, and looks often.
func TestFactsOfManyRandomHistoriesAreThoseCountedSecondBySecond(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomHistory(t, seed, 20) })
	}
}
