package schemas_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// enter writes so many entries, of two accounts and three months, from a number on.
func enter(t *testing.T, db driver.Conn, first, n int) {
	t.Helper()
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": fmt.Sprint("entries ", first), "insert_deduplicate": 1}))
	if err := db.Exec(ctx, fmt.Sprintf(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction,
			entry_no, id, amount, currency, vehicle, class, booking, customer, location, channel, purpose, kind, source,
			occurred_at)
		SELECT 7 + number %% 2, toDate32('2026-01-05') + number %% 70, ['cash', 'revenue.time', 'tax_payable'][1 + number %% 3],
			number, 1, intDiv(sipHash64(number), 2), toInt64(number) * 100 - 5000, ['USD', 'EUR'][1 + number %% 2], number %% 5,
			number %% 3, number %% 17, number %% 11, number %% 2, ['direct', 'turo'][1 + number %% 2], ['', 'tax, A'][1 + number %% 2],
			['payment', 'expense', 'booking'][1 + intDiv(number, 3) %% 3], number %% 19, now64(3)
		FROM numbers(%d, %d)`, first, n)); err != nil {
		t.Fatal(err)
	}
}

// differing counts the keys under which rollups differ from the entries.
func differing(t *testing.T, db driver.Conn) (n int) {
	t.Helper()
	for _, month := range allMonths(t, db) {
		for _, r := range schemas.Rollups {
			err := schemas.EachRow(t.Context(), db, "compare", schemas.Query(r.Table+"_differences"),
				[]any{clickhouse.Named("month", month)}, func(schemas.Row) error { n++; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

func allMonths(t *testing.T, db driver.Conn) []string {
	t.Helper()
	months, err := schemas.RollupMonths(t.Context(), db, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return months
}

func exec(t *testing.T, db driver.Conn, text string) {
	t.Helper()
	if err := db.Exec(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func repair(t *testing.T, db driver.Conn, apart time.Duration) []schemas.Repaired {
	t.Helper()
	done, err := schemas.RepairRollups(t.Context(), db, allMonths(t, db), apart)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// What a view missed, made twice, or made of what is no entry, is put right; what is whole stays as it is, also when
// parts are merged, and a database whose entries are older than the views is filled.
func TestRollupsAreRepaired(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	feed := func(does string) {
		for _, r := range schemas.Rollups {
			exec(t, db, does+" TABLE "+r.Table+"_feed")
		}
	}
	looked := func() time.Time {
		t.Helper()
		at, err := schemas.RollupsLooked(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	// Only a look that finds nothing is noted.
	whole := func(what string, wrong, repaired bool) {
		t.Helper()
		if n := differing(t, db); n > 0 != wrong {
			t.Errorf("%s: %d keys differ", what, n)
		}
		before := looked()
		if done := repair(t, db, time.Millisecond); len(done) > 0 != repaired {
			t.Errorf("%s: repaired were %v", what, done)
		}
		if after := looked(); after.After(before) == repaired {
			t.Errorf("%s: the last look is of %v, and was of %v before", what, after, before)
		}
		for _, r := range schemas.Rollups {
			exec(t, db, "OPTIMIZE TABLE "+r.Table+" FINAL")
		}
		if n := differing(t, db); n > 0 {
			t.Errorf("%s: %d keys differ after the repair", what, n)
		}
	}
	exec(t, db, "INSERT INTO rollup_looks VALUES ('ledger', now64(3))") // of a version that knew fewer rollups
	if at := looked(); !at.IsZero() {
		t.Errorf("nobody has looked at all rollups, but the last look is of %v", at)
	}
	feed("DETACH")
	enter(t, db, 0, 1000)
	feed("ATTACH")
	whole("older entries", true, true)
	enter(t, db, 1000, 1000)
	whole("the views", false, false)
	enter(t, db, 1000, 1000)
	whole("a repeated insert", false, false)
	feed("DETACH")
	enter(t, db, 2000, 500)
	feed("ATTACH")
	enter(t, db, 2500, 500)
	whole("a cut", true, true)
	exec(t, db, "INSERT INTO ledger_entries SELECT * FROM ledger_entries LIMIT 50")
	whole("entries twice", true, true)
	exec(t, db, "ALTER TABLE ledger_entries DELETE WHERE transaction = 17 SETTINGS mutations_sync = 2")
	whole("an entry less", true, true)
	for _, r := range schemas.Rollups {
		exec(t, db, "TRUNCATE TABLE "+r.Table)
		whole(r.Table+" was lost", true, true)
	}
}

// What a database lacks whose entries are older than the views is filled a year at a time, and each is told.
func TestAFillTellsEachYear(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	exec(t, db, "DETACH TABLE ledger_flows_feed")
	enter(t, db, 0, 100)
	enter(t, db, 100, 100)
	exec(t, db, `INSERT INTO ledger_entries SELECT * REPLACE (toDate32(addYears(local_date, -1)) AS local_date, id + 1 AS id)
		FROM ledger_entries`)
	exec(t, db, "ATTACH TABLE ledger_flows_feed")
	lacking := differing(t, db)
	var told []string
	keys := 0
	fill := func() {
		t.Helper()
		err := schemas.FillRollups(t.Context(), db, time.Millisecond, func(year string, n int) {
			told, keys = append(told, year), keys+n
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if want := []string{"2025", "2026"}; !slices.Equal(told, want) || keys != lacking || lacking == 0 {
		t.Errorf("%d of %d sums of %v were told, want all of %v", keys, lacking, told, want)
	}
	if fill(); len(told) != 2 || differing(t, db) > 0 {
		t.Errorf("a fill of what is whole tells %v, and leaves %d sums wrong", told[2:], differing(t, db))
	}
}

// Of many that repair at once one puts each thing right: nobody looks again after that, to find it done twice. Beside
// live writes that goes on until nothing lacks.
func TestManyRepairersRepairOnce(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	exec(t, db, "DETACH TABLE ledger_days_feed")
	enter(t, db, 0, 2000)
	exec(t, db, "ATTACH TABLE ledger_days_feed")
	months := allMonths(t, db)
	several := func(beside func()) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := schemas.RepairRollups(t.Context(), db, months, time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(beside)
		all.Wait()
	}
	several(func() {})
	if n := differing(t, db); n > 0 {
		t.Errorf("%d keys differ", n)
	}
	exec(t, db, "TRUNCATE TABLE ledger_months")
	several(func() {
		for i := range 20 {
			enter(t, db, 2000+i*20, 20)
		}
	})
	for len(repair(t, db, time.Millisecond)) > 0 {
	}
	if n := differing(t, db); n > 0 {
		t.Errorf("%d keys differ after repairs beside writes", n)
	}
}

// What is under way at the looks is not put right, but what lacks at both is.
func TestARepairLeavesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	exec(t, db, "DETACH TABLE ledger_months_feed")
	enter(t, db, 0, 1) // of the first key
	done := make(chan []schemas.Repaired)
	go func() {
		one, err := schemas.RepairRollups(t.Context(), db, []string{"2026-01-01"}, time.Second)
		if err != nil {
			t.Error(err)
		}
		done <- one
	}()
	time.Sleep(300 * time.Millisecond)
	enter(t, db, 2310, 1) // likewise: the sum of the key is another one at the second look
	if one := <-done; len(one) != 0 {
		t.Errorf("%v was put right, though it was changing", one)
	}
	if one := repair(t, db, time.Millisecond); len(one) != 1 || one[0].Keys == 0 {
		t.Errorf("%v was put right of what stays", one)
	}
}

// A server that was killed may know the token of a repair whose rows it has lost.
func TestARepairGoesOnWhereItsTokenIsSpent(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	exec(t, db, "DETACH TABLE ledger_days_feed")
	enter(t, db, 0, 100)
	repair(t, db, 0)
	exec(t, db, "ALTER TABLE ledger_days DELETE WHERE true SETTINGS mutations_sync = 2")
	if done := repair(t, db, 0); len(done) == 0 || differing(t, db) > 0 {
		t.Errorf("%v was repaired, %d keys differ", done, differing(t, db))
	}
}

// The view of flows has the accounts that its comparison with the entries has: else that would find them lacking.
func TestFlowsAreFedOfTheAccountsThatTheyAreComparedBy(t *testing.T) {
	t.Parallel()
	_, compared, _ := strings.Cut(schemas.Query("ledger_flows_accounts"), "arrayJoin([")
	compared, _, ok := strings.Cut(compared, "])")
	if !ok {
		t.Fatal("ledger_flows_accounts lists no accounts")
	}
	for _, m := range schemas.Migrations() {
		if m.Version == "5511_ledger_flows_feed" {
			if !strings.Contains(m.SQL, "WHERE ledger_account IN ("+compared+")") {
				t.Errorf("the view is not of %s:\n%s", compared, m.SQL)
			}
			return
		}
	}
	t.Error("there is no view of flows")
}
