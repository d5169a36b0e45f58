package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// What is made of sums of the ledger may lack what a server that was killed left out, until somebody has looked: before
// that it is of the last look, and of no time if none has been. What reads records alone is of now.
func TestReportsDoNotClaimWhatSumsMayLack(t *testing.T) {
	db := schematest.Open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	asOf := func(name string) time.Time {
		t.Helper()
		at, err := Named(name).AsOf(t.Context(), db, now)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, name := range []string{"profit_and_loss", "balance_sheet", "receivables_ageing", "take_rate"} {
		if at := asOf(name); !at.IsZero() {
			t.Errorf("%s is as of %v before any look", name, at)
		}
	}
	if at := asOf("quotes"); !at.Equal(now) {
		t.Errorf("quotes are as of %v, not of now", at)
	}
	before := now.AddDate(0, 0, -1) // this server did not run then
	if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO rollup_looks
		VALUES ('ledger and its taxes', fromUnixTimestamp64Milli(%d))`, before.UnixMilli())); err != nil {
		t.Fatal(err)
	}
	if at := asOf("balance_sheet"); !at.Equal(before) {
		t.Errorf("after a look of another life of the server it is as of %v, not of %v", at, before)
	}
	// A look of this life: with a server that has been up for less than a second it would count as one of before.
	time.Sleep(1100 * time.Millisecond)
	if _, err := schemas.RepairRollups(t.Context(), db, nil, 0); err != nil {
		t.Fatal(err)
	}
	if at := asOf("balance_sheet"); !at.Equal(now) {
		t.Errorf("after a look it is as of %v, not of now", at)
	}
	if at := asOf("profitability"); !at.IsZero() {
		t.Errorf("facts that were never made are as of %v", at)
	}
	// What another version has made is not what this one reads: after an upgrade nothing is known until all is made
	// again.
	noted := func(account uint64, version uint32) {
		t.Helper()
		if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO fact_runs (version, account, local_date, made_at,
			records_until, entries_until, vehicles, took_ms) SELECT %d, %d, toDate32('2026-01-01'), at, at, at, 1, 1
			FROM (SELECT fromUnixTimestamp64Milli(%d) AS at)`, version, account, before.UnixMilli())); err != nil {
			t.Fatal(err)
		}
	}
	noted(0, schemas.FactsVersion-1)
	noted(7, schemas.FactsVersion) // a month of one account
	if at := asOf("profitability"); !at.IsZero() {
		t.Errorf("facts of the version before are as of %v", at)
	}
	noted(0, schemas.FactsVersion)
	if at := asOf("profitability"); !at.Equal(before) {
		t.Errorf("facts that are made are as of %v, not of %v", at, before)
	}
}
