package main

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet/schemas/schematest"
)

// TestOnlyDisksOfOurTablesAreJudged looks at a server that has a disk, on which nothing is of ours at first.
func TestOnlyDisksOfOurTablesAreJudged(t *testing.T) {
	db := schematest.Empty(t)
	r := newRoom("", 1, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	for _, want := range []int{0, 1} {
		disks, err := r.ask(t.Context())
		if err != nil || len(disks) != want || want == 1 && disks["clickhouse default"] == 0 {
			t.Errorf("%v %v, want %d", disks, err, want)
		}
		if err := db.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS t (n UInt8) ENGINE = MergeTree ORDER BY n"); err != nil {
			t.Fatal(err)
		}
	}
}
