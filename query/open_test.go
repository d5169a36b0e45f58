package query_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func TestOpenTakesThePasswordFromAFile(t *testing.T) {
	config := schematest.Config(t)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(config.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config.Password, config.PasswordFile = "", file
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var database, async, deduplicate string
	if err := db.QueryRow(t.Context(), `SELECT currentDatabase(), toString(getSetting('async_insert')),
		toString(getSetting('deduplicate_blocks_in_dependent_materialized_views'))`).Scan(&database, &async, &deduplicate); err != nil {
		t.Fatal(err)
	}
	if database != config.Database || async != "false" && async != "0" || deduplicate != "true" && deduplicate != "1" {
		t.Errorf("database %s, async_insert %s, deduplication in views %s", database, async, deduplicate)
	}
}

func TestOpenFailsAtStartWhenAnythingIsWrong(t *testing.T) {
	good := schematest.Config(t)
	for name, spoil := range map[string]func(*query.Config){
		"nobody listens":        func(c *query.Config) { c.Addrs = []string{"127.0.0.1:1"} },
		"no address":            func(c *query.Config) { c.Addrs = nil },
		"password file missing": func(c *query.Config) { c.Password, c.PasswordFile = "", "/no/such/file" },
		"two passwords":         func(c *query.Config) { c.PasswordFile = "/no/such/file" },
		"hostile database name": func(c *query.Config) { c.Database = "a` ENGINE = Memory --" },
		"CA file missing":       func(c *query.Config) { c.TLS.Enabled, c.TLS.CAFile = true, "/no/such/file" },
		"key without cert":      func(c *query.Config) { c.TLS.Enabled, c.TLS.KeyFile = true, "/no/such/file" },
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			spoil(&config)
			db, err := query.Open(t.Context(), config)
			if err == nil {
				db.Close()
				t.Fatal("opened")
			}
			if good.Password != "" && strings.Contains(err.Error(), good.Password) {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}
