// Package schematest gives a test a ClickHouse database of its own with the newest schema, on the real engine that
// all tests of the binary share. The package under test hands its TestMain to embeddedtest.Run.
package schematest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// Open returns connections to a fresh migrated database, which is dropped when the test ends.
func Open(t testing.TB) driver.Conn {
	t.Helper()
	db := Empty(t)
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// Empty returns connections to a fresh database without any table, which is dropped when the test ends.
func Empty(t testing.TB) driver.Conn {
	t.Helper()
	config := Config(t)
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// Config makes a fresh database without any table, which is dropped when the test ends, and returns how to open it:
// for tests that want several pools of connections, or none yet.
func Config(t testing.TB) query.Config {
	t.Helper()
	addr, _, user, password := embeddedtest.ClickHouse(t)
	config := query.DefaultConfig()
	config.Addrs = []string{addr}
	config.User, config.Password = user, password
	config.Database = "test_" + strings.ToLower(rand.Text())
	if err := query.EnsureDatabase(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		server := config
		server.Database = "system"
		db, err := query.Open(ctx, server)
		if err != nil {
			t.Errorf("drop test database: %v", err)
			return
		}
		defer db.Close()
		if err := db.Exec(ctx, "DROP DATABASE "+config.Database+" SYNC"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return config
}
