package fact_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
)

// An account whose facts cannot be made keeps nothing from others, neither at the first look nor at later ones, and has
// all of its own as soon as they can be made, by whomever.
func TestAnAccountWhoseFactsCannotBeMadeKeepsThoseOfNoOther(t *testing.T) {
	w := open(t, "UTC")
	if _, _, err := w.base.Accounts.Create(t.Context(), by, 8, 8, record.Account{Name: "Other"}); err != nil {
		t.Fatal(err)
	}
	n, spent := 0, map[fleet.AccountID]int{}
	spend := func() {
		t.Helper()
		n++
		for _, id := range []fleet.AccountID{account, 8} {
			if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO ledger_entries (account, local_date, ledger_account,
				transaction, entry_no, amount, currency, entered_at) VALUES (%d, '2026-02-%02d', 'cost.fuel', %d, 1, 100, 'USD',
				now64(3))`, id, n, n)); err != nil {
				t.Fatal(err)
			}
			spent[id] += 100
		}
	}
	stands := func(when string, id fleet.AccountID) {
		t.Helper()
		var sum int64
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf("SELECT sum(cost_energy) FROM vehicle_days FINAL WHERE account = %d",
			id)).Scan(&sum); err != nil || sum != int64(spent[id]) {
			t.Errorf("%s, %s has costs of %d and ought to have %d, %v", when, id, sum, spent[id], err)
		}
	}
	looks := func(when string) {
		t.Helper()
		spend()
		err := w.facts.Look(t.Context())
		if !errors.Is(err, errDied) || !strings.Contains(err.Error(), account.String()) {
			t.Fatalf("%s, it looked and said %v", when, err)
		}
		stands(when, 8)
	}
	w.flaky.fails = uint64(account)
	looks("at the first look")
	looks("at the second")
	w.flaky.fails = 0
	spend()
	w.look()
	stands("when it can be begun", account)
	w.flaky.fails = uint64(account)
	v := w.vehicle("", "2026-02-01") // of long before the looks that come after
	looks("later")
	w.now = w.now.AddDate(0, 0, 1)
	looks("a day later")
	w.flaky.fails = 0
	died := *w.base
	died.DB = w.flaky
	if err := fact.New(&died).Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	stands("when another process looks", account)
	stays := func(vehicle uint64) {
		t.Helper()
		if f := w.stored("vehicle_days", "local_date")[fmt.Sprintf("2026-02-03 %d USD", vehicle)]; f["fleet_s"] != 24*3600 {
			t.Errorf("a day of a vehicle is %v", f)
		}
	}
	stays(v)
	w.flaky.fails = uint64(account)
	v = w.vehicle("", "2026-02-01")
	looks("of the first process")
	w.now = w.now.AddDate(0, 0, 1)
	looks("of the first process, a day later")
	w.flaky.fails = 0
	w.look()
	stays(v)
	for _, id := range []fleet.AccountID{account, 8} {
		stands("at last", id)
	}
}

// After an upgrade what another version has made of vehicles stands until it is made anew, and so do days of the fleet,
// also of an account whose facts cannot be made.
func TestDaysOfTheFleetStandBeforeFactsAreMadeAnew(t *testing.T) {
	w := open(t, "UTC")
	w.vehicle("", "2026-02-01")
	w.look()
	before := w.fleetDays()
	if before.all == 0 || before.not > 0 {
		t.Fatalf("of %d days of the fleet %d are not the sums of its vehicles", before.all, before.not)
	}
	for _, table := range []string{"fleet_days", "fact_runs"} {
		if err := w.db.Exec(t.Context(), "TRUNCATE TABLE "+table); err != nil {
			t.Fatal(err)
		}
	}
	w.flaky.fails = uint64(account)
	upgraded := *w.base
	upgraded.DB = w.flaky
	if err := fact.New(&upgraded).Look(t.Context()); !errors.Is(err, errDied) {
		t.Fatalf("it looked and said %v", err)
	}
	if after := w.fleetDays(); after != before {
		t.Errorf("days of the fleet are %v, and were %v", after, before)
	}
}
