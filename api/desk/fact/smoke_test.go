package fact_test

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

func TestSmoke(t *testing.T) {
	w := open(t, "America/New_York")
	a := w.vehicle("", "2026-02-20")
	b := w.vehicle("Europe/Berlin", "")
	w.look()
	same(t, "at first", w.stored("vehicle_days", "local_date"), w.expected())
	bk := create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
		PickupAt: record.InstantOf(began), ReturnAt: record.InstantOf(began.AddDate(0, 0, 3))},
		Status: record.BookingActive, ActualPickupAt: record.InstantOf(began.Add(time.Hour)), Currency: "USD",
		Charges: []record.Charge{{ID: "chg_1", Type: "time", Amount: record.Money{Amount: 10000, Currency: "USD"}, PostedAt: record.InstantOf(began)}},
	})
	w.bookings = append(w.bookings, bk)
	w.drive(trip{vehicle: a, id: 1, revision: 1, start: began.Add(19 * time.Hour), end: began.Add(20 * time.Hour), metres: 1234.567, fuel: 3.21})
	w.charge(charge{b, began, 12.345})
	w.now = w.now.Add(25 * time.Hour)
	w.move(b, record.VehicleMaintenance, w.now)
	w.now = w.now.Add(5 * time.Hour)
	w.look()
	same(t, "later", w.stored("vehicle_days", "local_date"), w.expected())
}

func TestSmoke2(t *testing.T) {
	w := open(t, "America/New_York")
	w.vehicle("", "2026-02-20")
	w.look()
	var s string
	if err := w.db.QueryRow(t.Context(), "SELECT toString(groupArray((local_date, day_s, fleet_s, down_s, rented_s, idle_s, billed_days))) FROM vehicle_days").Scan(&s); err != nil {
		t.Fatal(err)
	}
	t.Log(s)
}
