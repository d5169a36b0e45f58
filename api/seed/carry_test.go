//go:build long

package seed

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestBusinessIsCarriedOut carries out half a year of two cars, interrupted once, and looks at what is there then.
func TestBusinessIsCarriedOut(t *testing.T) {
	db := schematest.Open(t)
	open := openDesk(t, db)
	first, err := open(1, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "Demo", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	var cars []Car
	for i, class := range []string{"COMPACT", "SUV"} {
		id := first.Store.NextID()
		v := record.Vehicle{VehicleFields: record.VehicleFields{Make: "Kia", Model: "Niro"}, Status: record.VehicleAvailable,
			StatusSince: record.InstantOf(time.Now())}
		if _, _, err := first.Vehicles.Create(t.Context(), by, account, id, v); err != nil {
			t.Fatal(err)
		}
		cars = append(cars,
			Car{ID: fleet.FormatID(fleet.VehiclePrefix, id), Class: class, Branch: "OMA", Electric: i == 0, MileageMi: 30000,
				Ways: []Way{{Miles: 10, Takes: 20 * time.Minute}}, InWorkshop: i == 1})
	}
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p := New(1, now, 1, cars, zone)
	p.Customers = p.Customers[:30]
	for id, rentals := range p.Rentals { // half a year of it
		for i := range rentals {
			rentals[i].Customer %= len(p.Customers)
		}
		p.Rentals[id] = rentals[len(rentals)/2:]
	}
	business := &Business{Account: account, Plan: p, Cars: cars, Open: open, AtOnce: 2, Since: now,
		Branches: []Branch{{Code: "OMA", Location: record.Location{Name: "Omaha", Code: "OMA", Timezone: "America/Chicago"}}}}
	cut, cancel := context.WithCancel(t.Context())
	business.Progress = func(done, _ int) {
		if done == 12 {
			cancel()
		}
	}
	if err := business.Make(cut, now); err == nil {
		t.Fatal("it was not interrupted")
	}
	business.Progress = nil
	if err := business.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	count := func(query string) (n uint64) {
		t.Helper()
		if err := db.QueryRow(t.Context(), "SELECT toUInt64(("+query+"))").Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return n
	}
	want := map[string]int{}
	for _, rentals := range p.Rentals {
		for _, r := range rentals {
			switch {
			case !r.BookedAt.Before(now):
			case r.Outcome == "returned" && r.ActualReturn.Before(now):
				want["completed"]++
			case r.Outcome == "cancelled" && r.CancelledAt.Before(now):
				want["cancelled"]++
			}
		}
	}
	for status, n := range want {
		if got := count(fmt.Sprintf("SELECT count() FROM bookings FINAL WHERE status = '%s'",
			status)); got < uint64(n*9/10) || n < 1 {
			t.Errorf("%d bookings are %s, the plan has %d", got, status, n)
		}
	}
	if n := count("SELECT count() FROM (SELECT transaction, currency, local_date, sum(amount) AS s FROM ledger_entries FINAL GROUP BY ALL HAVING s != 0)"); n != 0 {
		t.Errorf("%d transactions do not balance", n)
	}
	if n := count("SELECT count() FROM (SELECT id, max(revision) AS newest FROM record_log WHERE kind = 'booking' GROUP BY id) AS l LEFT JOIN (SELECT id, revision FROM bookings FINAL) AS b USING (id) WHERE l.newest != b.revision"); n != 0 {
		t.Errorf("%d bookings are not listed as they stand", n)
	}
	// What is of the past has left the vehicles alone: each is where the plan has it now.
	for _, car := range cars {
		id, err := fleet.ParseID(fleet.VehiclePrefix, car.ID)
		if err != nil {
			t.Fatal(err)
		}
		v, err := first.Vehicles.Get(t.Context(), account, id)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{record.VehicleAvailable, record.VehicleTurnaround}
		if slices.ContainsFunc(p.Rentals[car.ID], func(r Rental) bool { return r.out(now) }) {
			want = []string{record.VehicleRented}
		} else if car.InWorkshop {
			want = []string{record.VehicleMaintenance}
		}
		if !slices.Contains(want, v.Body.Status) {
			t.Errorf("%s is %s, want %v", car.ID, v.Body.Status, want)
		}
	}
	// What the cars cost by schedule is in the books by now: the duty has nothing to do for them, which it would do one by
	// one. Where somebody has changed what it goes by meanwhile, another Make leaves that to the duty.
	const costs = "SELECT count() FROM expenses FINAL WHERE status = 'posted' AND scheduled_by LIKE 'veh_%'"
	scheduled := count(costs)
	later, err := open(2, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	if err := later.Costs.Post(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := count(costs); scheduled == 0 || after != scheduled {
		t.Errorf("%d expenses of vehicles are posted by schedule, %d after the duty", scheduled, after)
	}
	for i, method := range []string{"none", "units_of_production"} {
		id, err := fleet.ParseID(fleet.VehiclePrefix, cars[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := later.Vehicles.Update(t.Context(), by, account, id, 0, func(rec *record.Record[record.Vehicle]) error {
			rec.Body.DepreciationMethod = method
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := later.Costs.Post(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := count("SELECT count() FROM record_log")
	if err := business.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if after := count("SELECT count() FROM record_log"); after != before {
		t.Errorf("doing it again wrote %d revisions", after-before)
	}
}
