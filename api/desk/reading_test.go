//go:build long

package desk

import (
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// readingsOf are the values of the readings of a vehicle that are not voided, in order.
func readingsOf(t *testing.T, d *Desk, vehicle string) (values []float64) {
	t.Helper()
	text := `SELECT value FROM meter_readings FINAL WHERE vehicle_id = ? AND voided = 'false' ORDER BY recorded_at`
	err := schemas.EachRow(t.Context(), d.DB, "read readings", text, []any{vehicle}, func(row schemas.Row) error {
		var v float64
		if err := row.Scan(&v); err != nil {
			return err
		}
		values = append(values, v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// A wrong mileage of a return is corrected by reopening the booking and returning it again, at the same instant too,
// and back to what was said first.
func TestAWrongReturnMileageCanBeCorrected(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	var now time.Time
	d.Now = func() time.Time { return now }
	now = start.Add(-time.Hour)
	rec, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	o := Order{By: by, Account: account, Booking: rec.ID}
	hand := func(what func() (record.Record[record.Booking], error)) {
		t.Helper()
		if _, err := what(); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, values ...float64) {
		t.Helper()
		if got := readingsOf(t, d, l.cars[0]); !slices.Equal(got, values) {
			t.Errorf("%s: readings %v, want %v", when, got, values)
		}
	}
	now = start
	hand(func() (record.Record[record.Booking], error) {
		return d.Pickup(t.Context(), o, Handover{MileageMi: new(1000)})
	})
	now = start.Add(9 * time.Hour)
	returned := func(miles int) {
		t.Helper()
		hand(func() (record.Record[record.Booking], error) {
			return d.Return(t.Context(), o, Handover{MileageMi: &miles, Confirm: []string{yard.ConfirmMileage}})
		})
	}
	reopened := func() {
		t.Helper()
		hand(func() (record.Record[record.Booking], error) { return d.Reopen(t.Context(), o) })
		want("reopened", 1000)
	}
	returned(9999)
	want("wrong", 1000, 9999)
	reopened()
	returned(1200)
	want("right", 1000, 1200)
	reopened()
	returned(9999)
	want("as at first", 1000, 9999)
	reopened()
	now = now.Add(time.Minute)
	returned(1300)
	want("later", 1000, 1300)

	// Whatever is done again, late, changes nothing.
	revisions, bodies := []uint64{}, map[uint64]string{}
	text := "SELECT revision, body FROM record_log WHERE kind = 'booking' AND id = ? ORDER BY revision"
	err = schemas.EachRow(t.Context(), d.DB, "read revisions", text, []any{rec.ID}, func(row schemas.Row) error {
		var r uint64
		var body string
		if err := row.Scan(&r, &body); err != nil {
			return err
		}
		revisions, bodies[r] = append(revisions, r), body
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range revisions[1:] {
		w := record.Written{Account: account, Kind: "booking", ID: rec.ID, Revision: r, At: now, Before: []byte(bodies[r-1]),
			After: []byte(bodies[r])}
		if err := d.Yard.BookingReads(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	want("repeated", 1000, 1300)

	// Both at once, as an import corrects them: neither is held against the other as it was.
	if _, err := d.Bookings.Update(t.Context(), by, account, rec.ID, 0, func(r *record.Record[record.Booking]) error {
		r.Body.PickupMileageMi, r.Body.ReturnMileageMi = new(2000), new(2300)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want("both", 2000, 2300)
}
