package query_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestSeveralAddressesAreRefusedUnlessTheyAreOneStore: with plain tables a connection that goes to the second address
// would write into another database.
func TestSeveralAddressesAreRefusedUnlessTheyAreOneStore(t *testing.T) {
	config := schematest.Config(t)
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	first := config.Addrs[0]
	second := otherServer(t, config)
	_, port, err := net.SplitHostPort(first)
	if err != nil {
		t.Fatal(err)
	}
	for name, addrs := range map[string][]string{
		"another server":                   {first, second},
		"another server first":             {second, first},
		"one that does not answer":         {first, "127.0.0.1:1"},
		"the first one does not answer":    {"127.0.0.1:1", first},
		"the same server twice, and other": {first, first, second},
	} {
		several := config
		several.Addrs = addrs
		db, err := query.Open(t.Context(), several)
		if err == nil {
			db.Close()
			t.Errorf("%s: opened", name)
		} else if !strings.Contains(err.Error(), "not one store") || !strings.Contains(err.Error(), "Give one address") {
			t.Errorf("%s: the error does not say what to do: %v", name, err)
		}
	}
	twice := config
	twice.Addrs = []string{first, net.JoinHostPort("localhost", port)}
	same, err := query.Open(t.Context(), twice)
	if err != nil {
		t.Fatalf("two names of one server: %v", err)
	}
	same.Close()
}

// otherServer starts a second engine with the same user and a database of the same name, and returns its address.
func otherServer(t *testing.T, config query.Config) string {
	t.Helper()
	starting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	engine, err := embedded.StartClickHouse(starting, embedded.ClickHouseConfig{
		Dir: t.TempDir(), Users: []embedded.User{embedded.AppUser(config.User, config.Password)}, MemoryBytes: 1 << 30,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stopping, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = engine.Stop(stopping)
	})
	config.Addrs = []string{engine.Addr()}
	if err := query.EnsureDatabase(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return engine.Addr()
}
