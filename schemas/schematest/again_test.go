package schematest

import (
	"os"
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// TestADatabaseThatIsUsedAgainIsAsNew has tests leave rows, tokens, mutations and merges that were stopped behind, and
// changes of the schema, after which a database is not used again.
func TestADatabaseThatIsUsedAgainIsAsNew(t *testing.T) {
	seen, changed := map[string]int{}, []string{}
	open := func(t *testing.T) (db driver.Conn, name string) {
		db = Open(t)
		var left, versions, mutations uint64
		if err := db.QueryRow(t.Context(), `SELECT currentDatabase(),
			(SELECT sum(rows) FROM system.parts WHERE database = currentDatabase() AND active AND table != 'schema_versions'),
			(SELECT count() FROM schema_versions),
			(SELECT count() FROM system.mutations WHERE database = currentDatabase() AND command LIKE '%distance_m = 2%')`).Scan(
			&name, &left, &versions, &mutations); err != nil {
			t.Fatal(err)
		}
		if left != 0 || versions == 0 || mutations != 0 {
			t.Fatalf("%d rows, %d versions, %d mutations", left, versions, mutations)
		}
		if seen[name]++; slices.Contains(changed, name) {
			t.Errorf("%s was used again, though its schema was changed", name)
		}
		return db, name
	}
	statements := []string{
		"INSERT INTO trips (account, vehicle, id) VALUES (7, 1, 1)",
		"ALTER TABLE trips UPDATE distance_m = 2 WHERE id = 1",
		"SYSTEM STOP MERGES trips",
	}
	for i := range 8 {
		t.Run("rows", func(t *testing.T) {
			db, _ := open(t)
			ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
				"insert_deduplication_token": "once", "insert_deduplicate": 1, "mutations_sync": 1}))
			for _, statement := range statements {
				if err := db.Exec(ctx, statement); err != nil {
					t.Fatal(err)
				}
			}
			var n uint64
			if err := db.QueryRow(ctx, "SELECT count() FROM trips WHERE distance_m = 2").Scan(&n); err != nil || n != 1 {
				t.Fatalf("%d trips, not the one that was written: %v", n, err)
			}
			if i%4 < 2 { // nothing is left but the token
				for _, statement := range []string{"SYSTEM START MERGES trips", "ALTER TABLE trips DELETE WHERE true"} {
					if err := db.Exec(ctx, statement); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
	twice := false
	for _, times := range seen {
		twice = twice || times > 1
	}
	if twice == embeddedtest.Outlived() {
		t.Errorf("databases were used so often: %v", seen)
	}
	for _, change := range []string{"ALTER TABLE trips ADD COLUMN stray UInt8", "DETACH TABLE trips_feed",
		"INSERT INTO schema_versions (version) VALUES ('9999_stray')"} {
		t.Run(change, func(t *testing.T) {
			db, name := open(t)
			if err := db.Exec(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			changed = append(changed, name)
		})
	}
	for range 3 {
		t.Run("after", func(t *testing.T) { open(t) })
	}
}
