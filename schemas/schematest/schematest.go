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

// Open returns connections to a migrated database without a row, which nobody else has until the test ends. It may be
// one that an earlier test has done with, see again.go.
func Open(t testing.TB) driver.Conn {
	t.Helper()
	config := server(t)
	if name, ok := rested.take(); ok {
		config.Database = name
		db := connect(t, config)
		if err := wipe(t.Context(), db, name); err == nil {
			giveBack(t, config)
			return closing(t, db)
		} else {
			t.Logf("a new database in place of %s: %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		drop(t, config)
	}
	config.Database = newName()
	if err := query.EnsureDatabase(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	giveBack(t, config)
	db := closing(t, connect(t, config))
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := rested.noteSchema(t.Context(), db, config.Database); err != nil {
		t.Fatal(err)
	}
	return db
}

// Empty returns connections to a fresh database without any table, which is dropped when the test ends.
func Empty(t testing.TB) driver.Conn {
	t.Helper()
	return closing(t, connect(t, Config(t)))
}

// Config makes a fresh database without any table, which is dropped when the test ends, and returns how to open it:
// for tests that want several pools of connections, or none yet.
func Config(t testing.TB) query.Config {
	t.Helper()
	config := server(t)
	config.Database = newName()
	if err := query.EnsureDatabase(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, config) })
	return config
}

// server is how to reach the engine, without a database.
func server(t testing.TB) query.Config {
	t.Helper()
	addr, _, user, password := embeddedtest.ClickHouse(t)
	config := query.DefaultConfig()
	config.Addrs = []string{addr}
	config.User, config.Password = user, password
	return config
}

func newName() string { return "test_" + strings.ToLower(rand.Text()) }

func connect(t testing.TB, config query.Config) driver.Conn {
	t.Helper()
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// closing closes connections when the test ends.
func closing(t testing.TB, db driver.Conn) driver.Conn {
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func drop(t testing.TB, config query.Config) {
	t.Helper()
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
}
