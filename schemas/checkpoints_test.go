package schemas_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// Of each vehicle every checkpoint of the last days stays, the last one of each month before, and so the newest of
// one that has not reported for long. What a repair has dropped does not come to light again, and is none that stays.
func TestOldCheckpointsAreThinnedOut(t *testing.T) {
	db := schematest.Open(t)
	exec := func(statement string) {
		t.Helper()
		if err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	// Vehicle 1 reports each day of 2026 up to 30 June, 2 on a few days of January, each day in a part of its own twice.
	for version := 1; version <= 2; version++ {
		exec(fmt.Sprintf(`INSERT INTO checkpoints (account, vehicle, day, version, at, wake_at, format, dropped, state)
			SELECT 1, 1, toDate('2026-01-01') + number AS day, %d, toDateTime64(day, 3, 'UTC') + 3600, NULL, 3, false, 'v%d' FROM numbers(181)
			UNION ALL
			SELECT 1, 2, toDate('2026-01-05') + number AS day, %d, toDateTime64(day, 3, 'UTC') + 3600, NULL, 3, false, 'v%d' FROM numbers(4)`,
			version, version, version, version))
	}
	exec(`INSERT INTO checkpoints (account, vehicle, day, version, at, wake_at, format, dropped, state)
		VALUES (1, 1, '2026-03-31', 3, '2026-03-31 01:00:00', NULL, 3, true, '')`)
	// one that only an older program reads
	exec(`INSERT INTO checkpoints (account, vehicle, day, version, at, wake_at, format, dropped, state)
		VALUES (1, 2, '2026-01-04', 1, '2026-01-04 01:00:00', NULL, 2, false, 'old')`)
	standing := func() string {
		t.Helper()
		days, err := schemas.AllRows(t.Context(), db, "read checkpoints", `
			SELECT concat(toString(vehicle), ' ', toString(day), ' ', state) FROM checkpoints FINAL WHERE NOT dropped AND day < '2026-05-21' ORDER BY vehicle, day`, nil,
			func(s *string, row schemas.Row) error { return row.Scan(s) })
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(days, ", ")
	}
	count := func(what string) (n uint64) {
		t.Helper()
		if err := db.QueryRow(t.Context(), "SELECT count() FROM checkpoints "+what).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	now := time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)
	want := "1 2026-01-31 v2, 1 2026-02-28 v2, 1 2026-03-30 v2, 1 2026-04-30 v2, 1 2026-05-20 v2, " +
		"2 2026-01-04 old, 2 2026-01-08 v2"
	for range 2 { // the second time there is nothing to do
		if err := schemas.ThinCheckpoints(t.Context(), db, now); err != nil {
			t.Fatal(err)
		}
		if got := standing(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if n := count("FINAL WHERE NOT dropped AND vehicle = 1 AND day >= '2026-05-21'"); n != 41 {
			t.Errorf("%d of the last 41 days", n)
		}
	}
	rows := count("")
	if err := schemas.ThinCheckpoints(t.Context(), db, now); err != nil {
		t.Fatal(err)
	}
	if n := count(""); n != rows {
		t.Errorf("%d rows were written for nothing", n-rows)
	}
	exec("OPTIMIZE TABLE checkpoints FINAL")
	if got := standing(); got != want {
		t.Errorf("after a merge %s, want %s", got, want)
	}
}
