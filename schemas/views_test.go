package schemas_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// sources has an insert for each table that views read, of rows of a few hours, two days ago.
var sources = map[string]string{
	"telemetry": `INSERT INTO telemetry (account, vehicle, signal, time, value)
		SELECT 7, 1 + number % 3, 'soc_pct', toDateTime64(today() - 2, 3, 'UTC') + number * 7,
			sin(number) * 50 FROM numbers(2000)`,
	"positions": `INSERT INTO positions (account, vehicle, fix_time, received_at, lat7, lng7, cell, flags)
		SELECT 7, 1 + number % 3, toDateTime64(today() - 2, 3, 'UTC') + number * 7 AS at, at,
			301000000 + number, 977000000, 617420388352655359 + number % 5, 0 FROM numbers(2000)`,
	"ingest_outcomes": `INSERT INTO ingest_outcomes (account, run, topic, partition, first_offset, last_offset, at, read,
			outcome_devices, outcome_quarters, outcome_names, outcome_counts)
		SELECT 7, '', 'positions', 0, number, number, toDateTime64(today() - 2, 3, 'UTC') + number AS at, 3, [1, 2],
			[toStartOfFifteenMinutes(at), toStartOfFifteenMinutes(at)], ['duplicate', 'measured'], [2, 1] FROM numbers(60)`,
	"derivations": `INSERT INTO derivations (account, vehicle, kind, id, revision, start_at,
			end_at, local_date, written_at, body)
		SELECT 7, 1, ['trip', 'stop', 'charge', 'visit', 'driving_event', 'alert', 'route_run'][1 + number % 7], number, 1,
			toDateTime64(today() - 2, 3, 'UTC') + number AS begun, begun, today(), begun, '{}'
		FROM numbers(60)`,
}

// torn returns the tables of views that lack something of the last three days.
func torn(t *testing.T, db driver.Conn) []string {
	t.Helper()
	lacking, err := query.TornViews(t.Context(), db, time.Now().Add(-72*time.Hour), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return lacking
}

// Every view that stands is filled again, whatever its file looks like; sums of the ledger are repaired instead.
func TestEveryViewIsFilledAgain(t *testing.T) {
	var standing, filled []string
	for _, m := range schemas.Migrations() {
		if _, after, ok := strings.Cut(m.SQL, "CREATE MATERIALIZED VIEW IF NOT EXISTS "); ok {
			standing = append(standing, strings.Fields(after)[0])
		}
		if _, after, ok := strings.Cut(m.SQL, "DROP VIEW IF EXISTS "); ok {
			standing = slices.DeleteFunc(standing, func(name string) bool { return strings.Contains(after, name) })
		}
	}
	for _, v := range schemas.Views() {
		filled = append(filled, v.Name)
	}
	want := slices.DeleteFunc(standing, func(name string) bool { return strings.HasPrefix(name, "ledger_") })
	if !slices.Equal(filled, want) {
		t.Errorf("%v are filled again, and %v stand", filled, want)
	}
}

// A server that dies between an insert and what the views make of it leaves their tables without it. That is seen for
// each view, and mended by the insert that is repeated under its token, as ingest does, and by FillViews, which may
// be repeated and changes nothing that is whole.
func TestWhatAViewMissedIsSeenAndMadeAgain(t *testing.T) {
	retried := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": "range", "insert_deduplicate": 1}))
	for _, view := range schemas.Views() {
		t.Run(view.Name, func(t *testing.T) {
			t.Parallel()
			db := schematest.Open(t)
			exec := func(text string) {
				t.Helper()
				if err := db.Exec(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			held := func() (rows, sum uint64) {
				t.Helper()
				exec("OPTIMIZE TABLE " + view.Table + " FINAL")
				text := "SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM " + view.Table
				if err := db.QueryRow(t.Context(), text).Scan(&rows, &sum); err != nil {
					t.Fatal(err)
				}
				return rows, sum
			}
			cut := func(insert func()) {
				exec("DETACH TABLE " + view.Name)
				insert()
				exec("ATTACH TABLE " + view.Name)
				if lacking := torn(t, db); !slices.Equal(lacking, []string{view.Table}) {
					t.Fatalf("%v are seen to lack something, not %s", lacking, view.Table)
				}
			}
			whole := func(how string) {
				t.Helper()
				if lacking := torn(t, db); len(lacking) != 0 {
					t.Errorf("%s: %v lack something", how, lacking)
				}
			}
			source := sources[view.Source]
			if source == "" {
				t.Fatalf("no insert into %s is known; add one, and %s to views_torn.sql", view.Source, view.Table)
			}
			send := func() {
				if err := db.Exec(retried, source); err != nil {
					t.Fatal(err)
				}
			}
			cut(send)
			send()
			whole("repeated")
			rows, sum := held()
			exec("TRUNCATE TABLE " + view.Table)
			for range 2 {
				if err := schemas.FillViews(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				whole("filled")
				if again, sumAgain := held(); rows == 0 || again != rows || sumAgain != sum {
					t.Errorf("%d rows of sum %d after filling, were %d of %d", again, sumAgain, rows, sum)
				}
			}
		})
	}
}
