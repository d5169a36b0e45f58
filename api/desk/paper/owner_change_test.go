package paper

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// on has it be the afternoon of a day.
func on(t *testing.T, day string) {
	t.Helper()
	was := now
	t.Cleanup(func() { now = was })
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	now = at.Add(20 * time.Hour)
}

// person writes a customer and returns its id.
func (d *Papers) person(t *testing.T, name string) string {
	t.Helper()
	return put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{DisplayName: name}})
}

// car writes a vehicle of an owner, for the whole of what it brings, and returns its id.
func (d *Papers) car(t *testing.T, plate, owner string) string {
	t.Helper()
	return put(t, d, d.Vehicles, record.Vehicle{Status: record.VehicleAvailable, VehicleFields: record.VehicleFields{
		Make: "Tesla", Model: "Model 3", LicensePlate: plate, OwnerCustomerID: owner}})
}

// give has a vehicle be an owner's for a share from now on.
func (d *Papers) give(t *testing.T, car, owner string, share int64) {
	t.Helper()
	id, _ := fleet.ParseID(fleet.VehiclePrefix, car)
	if _, err := d.Vehicles.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.OwnerCustomerID, r.Body.OwnerShareBP = owner, &share
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// earns posts what a vehicle brings on a day.
func (d *Papers) earns(t *testing.T, car, day string, amount int64) {
	t.Helper()
	d.post(t, entry{day: day, account: "revenue.time", vehicle: car, booking: 77, amount: -amount, kind: "booking"})
}

// tell makes an owner's statement for a month on the second of the next one, and holds its gross and payout.
func (d *Papers) tell(t *testing.T, owner, month string, gross, payout int64) rec {
	t.Helper()
	first, _ := time.Parse("2006-01", month)
	on(t, first.AddDate(0, 1, 1).Format(time.DateOnly))
	r, err := d.Owner(t.Context(), by, account, d.Store.NextID(), Order{CustomerID: owner, Month: month})
	if err != nil {
		t.Fatalf("%s: %v", month, err)
	}
	if got := r.Body.Sums[0].Amount.Amount; got != gross || r.Body.Total != usd(payout) {
		t.Errorf("%s: gross %d and payout %d of %+v, want %d and %d", month, got, r.Body.Total.Amount, r.Body.Lines,
			gross, payout)
	}
	return r
}

// A vehicle changes its owner within a month: each is told the days on which it was theirs, once, whether or not the
// old one owns another, and both together are told what it earned. A correction goes to whose the day was.
func TestAVehicleThatChangesItsOwnerIsPaidOnce(t *testing.T) {
	for _, another := range []bool{true, false} {
		on(t, "2026-01-01")
		d := withAccount(t)
		old, heir := d.person(t, "Olga"), d.person(t, "Hugo")
		if another {
			d.car(t, "OTHER", old)
		}
		d.car(t, "HEIR", heir)
		car := d.car(t, "CAR", old)
		d.earns(t, car, "2026-01-10", 1000)
		d.tell(t, old, "2026-01", 1000, 1000)
		d.tell(t, heir, "2026-01", 0, 0)
		d.earns(t, car, "2026-05-31", 200)
		d.earns(t, car, "2026-06-09", 30)
		d.earns(t, car, "2026-06-10", 4)
		on(t, "2026-06-10")
		d.give(t, car, heir, 10000)
		d.tell(t, heir, "2026-06", 4, 4)
		d.tell(t, old, "2026-06", 230, 230)
		d.earns(t, car, "2026-06-08", -5)
		d.earns(t, car, "2026-07-08", 60000)
		d.tell(t, heir, "2026-07", 60000, 60000)
		d.tell(t, old, "2026-07", -5, -5)
	}
}

// A vehicle had no owner before: whoever is typed in late gets what it brought until then, since the first statement.
// What it brings after it is nobody's again is nobody's, and so is what it brought until the next owner came.
func TestAnOwnerWhoIsTypedInLateGetsThePast(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner, next := d.person(t, "Olga"), d.person(t, "Nina")
	d.car(t, "OTHER", owner)
	car := d.car(t, "CAR", "")
	d.earns(t, car, "2026-01-10", 1000)
	d.tell(t, owner, "2026-01", 0, 0)
	on(t, "2026-03-15")
	d.give(t, car, next, 10000) // by mistake
	d.give(t, car, owner, 10000)
	d.tell(t, owner, "2026-03", 1000, 1000)
	on(t, "2026-04-15")
	d.give(t, car, "", 10000)
	d.earns(t, car, "2026-04-14", 200)
	d.earns(t, car, "2026-04-15", 30)
	on(t, "2026-05-15")
	d.give(t, car, next, 10000)
	d.earns(t, car, "2026-05-15", 4)
	d.tell(t, owner, "2026-05", 200, 200)
	d.tell(t, next, "2026-05", 4, 4)
	if _, err := d.Owner(t.Context(), by, account, d.Store.NextID(),
		Order{CustomerID: d.person(t, "Nobody"), Month: "2026-05"}); fleet.CodeOf(err) != fleet.CodeValidation {
		t.Errorf("of who never had one: %v", err)
	}
}

// The first statement is of a late month: those of the months before can be made afterwards, each day is told once, and
// all of them together tell what the books have.
func TestMonthsBeforeTheFirstStatementAreToldAfterwards(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	for i, amount := range []int64{1, 20, 300, 4000, 50000} {
		d.earns(t, car, time.Date(2026, time.Month(1+i), 28, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), amount)
	}
	refused := func(month, says string) {
		t.Helper()
		_, err := d.Owner(t.Context(), by, account, d.Store.NextID(), Order{CustomerID: owner, Month: month})
		if fleet.CodeOf(err) != fleet.CodeConflict || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", month, err)
		}
	}
	d.tell(t, owner, "2026-04", 4000, 4000)
	refused("2026-04", "OS-2026-00001 of this owner already, which tells of 2026-04-01 until 2026-04-30")
	d.tell(t, owner, "2026-01", 1, 1)
	d.earns(t, car, "2026-01-29", 7) // typed in afterwards
	d.tell(t, owner, "2026-02", 27, 27)
	d.tell(t, owner, "2026-05", 50300, 50300) // and March, which has none of its own
	refused("2026-03", "which tells of 2026-01-01 until 2026-05-31")
}

// What a day brought is shared as the vehicle said on that day, also when it is corrected later.
func TestTheShareOfADayIsThatOfTheDay(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	d.give(t, car, owner, 7000)
	d.earns(t, car, "2026-01-10", 1000)
	d.tell(t, owner, "2026-01", 1000, 700)
	on(t, "2026-02-15")
	d.give(t, car, owner, 5000)
	d.post(t, entry{day: "2026-02-10", account: "cost.repair", vehicle: car, amount: 10, kind: "expense", source: 9},
		entry{day: "2026-02-20", account: "cost.repair", vehicle: car, amount: 5, kind: "expense", source: 9})
	d.earns(t, car, "2026-02-14", 100)
	d.earns(t, car, "2026-02-15", 2000)
	told := d.tell(t, owner, "2026-02", 2100, 70+1000-15)
	var shares []int64
	for _, l := range told.Body.Lines {
		if l.Type == "share" {
			shares = append(shares, l.ShareBP, l.Amount.Amount)
		}
	}
	if len(told.Body.Lines) != 5 || len(shares) != 4 || shares[0]+shares[2] != 12000 || shares[1]+shares[3] != 1070 {
		t.Errorf("shared as %v by %+v", shares, told.Body.Lines)
	}
	d.earns(t, car, "2026-01-10", -1000)
	d.tell(t, owner, "2026-03", -1000, -700)
}
