package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A page of what was derived of one vehicle, and how many rows there are of it, read its granules and not its
// account's.
func TestHistoryOfAVehicleReadsTheVehiclesGranules(t *testing.T) {
	db := schematest.Open(t)
	args := []any{clickhouse.Named("account", uint64(1)), clickhouse.Named("vehicles", []uint64{50}),
		clickhouse.Named("limit", uint64(20)), clickhouse.Named("offset", uint64(0)),
		clickhouse.Named("ids", []uint64{50}), clickhouse.Named("vehicle", uint64(50)),
		clickhouse.Named("since", int64(1_769_220_000_000)), clickhouse.Named("before", int64(1_767_400_000_000)),
		clickhouse.Named("first", int64(1_767_226_600_000)), clickhouse.Named("last", int64(1_767_226_600_000))}
	// most returns the most granules that a query reads after its key was looked at, and all that there are.
	most := func(text string) (read, of int) {
		t.Helper()
		byKey := false
		err := schemas.EachRow(t.Context(), db, "explain a query", "EXPLAIN indexes = 1 "+text, args,
			func(row schemas.Row) error {
				var line string
				if err := row.Scan(&line); err != nil {
					return err
				}
				line = strings.TrimLeft(line, " │├└─")
				byKey = line == "PrimaryKey" || byKey
				var some, all int
				if n, _ := fmt.Sscanf(line, "Granules: %d/%d", &some, &all); n == 2 && byKey {
					read, of, byKey = max(read, some), max(of, all), false
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return read, of
	}
	for _, table := range []string{"trips", "stops", "charges", "visits", "driving_events", "alerts", "route_runs"} {
		exec(t, db, `INSERT INTO `+table+` (account, vehicle, id, revision, start_at, end_at, updated_at, body)
			SELECT 1, number % 100, number, 1, toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number * 20 AS start_at,
				start_at + 10, start_at + 20, '{}'
			FROM numbers(100000)`)
		marks := strings.NewReplacer("/*table*/", table, "/*filters*/", "AND vehicle IN {vehicles:Array(UInt64)} AND NOT deleted",
			"/*by*/", "start_at", "/*direction*/", "DESC", "/*after*/", "true", "/*total*/", "count() OVER ()",
			"/*threads*/", ", max_threads = 1")
		// The vehicle has 1,000 rows, which lie in five granules of 256.
		for name, bound := range map[string]int{"derived_page": 5, "derived_count": 5, "derived_rows": 1, "derived_newest": 1,
			"derived_past": 1} {
			if read, of := most(marks.Replace(schemas.Query(name))); of < 300 || read == 0 || read > bound {
				t.Errorf("%s of %s reads %d of %d granules, want %d", name, table, read, of, bound)
			}
		}
	}
	if read, _ := most("SELECT count() FROM trips WHERE account = {account:UInt64} AND has({vehicles:Array(UInt64)}, " +
		"intDiv(id, 1000))"); read < 10 {
		t.Errorf("a question that scans reads %d granules: this test would not see it", read)
	}
}
