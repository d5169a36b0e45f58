package fact_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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

// What a vehicle turns out to run on is so of all its days.
func TestDaysOfTheFleetKnowWhatRunsOnElectricity(t *testing.T) {
	w := open(t, "UTC")
	v := w.vehicle("", "2026-02-01")
	at := w.now.AddDate(0, 0, -10)
	w.drive(trip{vehicle: v, id: 1, revision: 1, start: at, end: at.Add(time.Hour), metres: 12_000})
	w.charge(charge{v, at, 7})
	other := w.vehicle("", "2026-02-01")
	w.drive(trip{vehicle: other, id: 2, revision: 1, start: at, end: at.Add(time.Hour), metres: 500})
	for _, c := range []struct{ fuel, want string }{
		{"", "12500 0 7 0"}, {"electric", "12500 12000 7 7"}, {"plug_in_hybrid", "12500 0 7 0"},
	} {
		update(w, w.base.Vehicles, v, func(v *record.Vehicle) { v.FuelType = c.fuel })
		w.look()
		var driven, electric, kwh, electricKWh float64
		if err := w.db.QueryRow(t.Context(), `SELECT sum(driven_m), sum(electric_m), sum(energy_kwh), sum(electric_kwh)
			FROM fleet_days FINAL`).Scan(&driven, &electric, &kwh, &electricKWh); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(driven, electric, kwh, electricKWh); got != c.want {
			t.Errorf("with %q: driven, of it electric, charged, of it electric: %s, want %s", c.fuel, got, c.want)
		}
	}
}
