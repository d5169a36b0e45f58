package fact_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
)

// What a rental came to follows trips and entries that are written after it came back, by whatever record; what is
// found twice is written once; and its miles outlive its trips.
func TestWhatARentalCameToFollowsItsTripsAndEntries(t *testing.T) {
	w := open(t, "UTC")
	w.now = began.AddDate(0, 0, 4)
	a := w.vehicle("", "2026-02-01")
	pickup := time.Date(2026, 2, 28, 10, 0, 0, 0, time.UTC)
	rental := create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
		PickupAt: record.InstantOf(pickup), ReturnAt: record.InstantOf(pickup.AddDate(0, 0, 2))}, Currency: "EUR",
		Status: record.BookingCompleted, ActualPickupAt: record.InstantOf(pickup),
		ActualReturnAt: record.InstantOf(pickup.AddDate(0, 0, 2))})
	put := func(text string, args ...any) {
		t.Helper()
		if err := w.db.Exec(t.Context(), fmt.Sprintf(text, args...)); err != nil {
			t.Fatal(err)
		}
	}
	trip := func(id, revision int, times string, deleted bool) {
		t.Helper()
		put(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, updated_at, distance_m, deleted)
			VALUES (7, %d, %d, %d, %s, now64(3), 4000, %t)`, a, id, revision, times, deleted)
	}
	look := func() { // so much later that the record of the rental is no news
		w.now = w.now.Add(time.Hour)
		w.look()
	}
	var rows uint64
	want := func(when, sums string) {
		t.Helper()
		var got string
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT (SELECT arrayStringConcat(groupArray(concat(toString(gps_m), ' m ',
			toString(revenue), ' ', toString(contribution))), ', ') FROM rental_sums FINAL WHERE account = 7 AND booking = %d),
			(SELECT count() FROM rental_sums)`, rental)).Scan(&got, &rows); err != nil {
			t.Fatal(err)
		}
		if got != sums {
			t.Errorf("%s: %s, want %s", when, got, sums)
		}
	}
	w.look()
	want("when it comes back", "0 m 0 0")
	trip(1, 1, "'2026-02-28 09:30:00', '2026-02-28 10:30:00'", false)
	trip(2, 1, "'2026-03-01 12:00:00', '2026-03-01 13:00:00'", false)
	trip(3, 1, "'2026-03-02 10:00:00', '2026-03-02 11:00:00'", false)
	look()
	want("half of the first trip, the second, nothing of the one after it", "6000 m 0 0")
	trip(2, 2, "'2026-03-01 12:00:00', '2026-03-01 13:00:00'", true)
	put(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking,
		kind, source, entered_at) VALUES
		(7, '2026-02-28', 'revenue.time', 1, 1, 1, -5000, 'EUR', %[1]d, 'booking', %[1]d, now64(3)),
		(7, '2026-02-28', 'revenue.time', 1, 2, 2, -100, 'USD', %[1]d, 'booking', %[1]d, now64(3)),
		(7, '2026-02-28', 'tax_payable', 1, 3, 3, -900, 'EUR', %[1]d, 'booking', %[1]d, now64(3))`, rental)
	look()
	want("one trip was none, and it is billed", "2000 m 5000 5000")
	put(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking,
		kind, source, entered_at) VALUES (7, '2026-03-30', 'cost.toll', 2, 1, 4, 700, 'EUR', %d, 'toll', 99, now64(3))`, rental)
	look()
	want("a toll of it comes", "2000 m 5000 4300")
	before := rows
	look()
	if want("nothing was written", "2000 m 5000 4300"); rows != before {
		t.Errorf("%d rows after another look, not %d", rows, before)
	}
	update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.RetentionDays = 30 })
	put("TRUNCATE TABLE trips")
	put(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking,
		kind, source, entered_at) VALUES (7, '2026-04-30', 'revenue.fees', 3, 1, 5, -50, 'EUR', %[1]d, 'booking', %[1]d, now64(3))`, rental)
	w.now = w.now.AddDate(0, 0, 40)
	from, to, err := w.facts.Extent(t.Context(), account)
	if err == nil {
		err = w.facts.Make(t.Context(), account, from, to, func(fact.Made) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	want("its trips are gone", "2000 m 5050 4350")
}

// A rental whose return is undone counts in no report until its vehicle is back again, and then as its booking says by
// then.
func TestARentalThatIsTakenUpAgainIsNoneUntilItIsBack(t *testing.T) {
	w := open(t, "UTC")
	w.now = began.AddDate(0, 0, 4)
	a := w.vehicle("", "2026-02-01")
	pickup := time.Date(2026, 2, 28, 10, 0, 0, 0, time.UTC)
	miles := func(n int) *int { return &n }
	back := record.InstantOf(pickup.AddDate(0, 0, 2))
	rental := create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
		Channel: "turo", PickupAt: record.InstantOf(pickup), ReturnAt: back}, Currency: "EUR", Timezone: "UTC",
		Status: record.BookingCompleted, ActualPickupAt: record.InstantOf(pickup), PickupMileageMi: miles(100),
		ReturnMileageMi: miles(150), ActualReturnAt: back})
	want := func(when, is string) {
		t.Helper()
		w.now = w.now.Add(time.Hour)
		w.look()
		var got string
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT concat(toString(completed), ' ', toString(day), ' ', channel, ' ', currency, ' ',
			toString(vehicle = %d), ' ', toString(rented_s), ' s ', toString(metered), ' ', toString(odometer_mi), ' mi')
			FROM rental_sums FINAL WHERE account = 7 AND booking = %d`, a, rental)).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != is {
			t.Errorf("%s: %s, want %s", when, got, is)
		}
	}
	want("when it comes back", "true 2026-03-02 turo EUR 1 172800 s true 50 mi")
	update(w, w.base.Bookings, rental, func(b *record.Booking) {
		b.Status, b.ActualReturnAt, b.ReturnMileageMi = record.BookingActive, record.Instant{}, nil
	})
	want("when the return is undone", "false 1970-01-01   0 0 s false 0 mi")
	update(w, w.base.Bookings, rental, func(b *record.Booking) {
		b.Status, b.ReturnMileageMi = record.BookingCompleted, miles(170)
		b.ActualReturnAt = record.InstantOf(pickup.AddDate(0, 0, 3))
	})
	want("when it is back again", "true 2026-03-03 turo EUR 1 259200 s true 70 mi")
}

// A rental in a zone that the server does not know keeps no facts from being made, and is of the account's day.
func TestARentalInAZoneThatNobodyKnowsStopsNoFacts(t *testing.T) {
	w := open(t, "America/New_York")
	w.now = began.AddDate(0, 0, 4)
	a := w.vehicle("", "2026-02-01")
	pickup := time.Date(2026, 2, 28, 10, 0, 0, 0, time.UTC)
	back := record.InstantOf(time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)) // the evening before in New York
	for _, zone := range []string{"Mars/Olympus_Mons", "Europe/Berlin"} {
		create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
			PickupAt: record.InstantOf(pickup), ReturnAt: back}, Currency: "EUR", Timezone: zone,
			Status: record.BookingCompleted, ActualPickupAt: record.InstantOf(pickup), ActualReturnAt: back})
	}
	w.look()
	var days []string
	if err := w.db.QueryRow(t.Context(), `SELECT arraySort(groupArray(toString(day))) FROM rental_sums FINAL
		WHERE account = 7 AND completed`).Scan(&days); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(days, []string{"2026-03-01", "2026-03-02"}) {
		t.Errorf("rentals are of %v", days)
	}
}

// Of a rental that is longer than trips are kept, those that are kept count whenever they come or go; the others stay.
func TestATripThatComesLateCountsInALongRental(t *testing.T) {
	w := open(t, "UTC")
	a := w.vehicle("", "2026-02-01")
	update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.RetentionDays = 30 })
	pickup := time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)
	w.now = pickup.AddDate(0, 0, 60).Add(time.Hour)
	rental := create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
		PickupAt: record.InstantOf(pickup), ReturnAt: record.InstantOf(pickup.AddDate(0, 0, 60))}, Currency: "EUR",
		Status: record.BookingCompleted, ActualPickupAt: record.InstantOf(pickup),
		ActualReturnAt: record.InstantOf(pickup.AddDate(0, 0, 60))})
	put := func(text string, args ...any) {
		t.Helper()
		if err := w.db.Exec(t.Context(), fmt.Sprintf(text, args...)); err != nil {
			t.Fatal(err)
		}
	}
	trip := func(id int, day string, deleted bool) {
		t.Helper()
		put(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, updated_at, distance_m, deleted)
			VALUES (7, %d, %d, %d, '%s 12:00:00', '%[4]s 13:00:00', now64(3), 4000, %t)`,
			a, id, time.Now().UnixMilli(), day, deleted)
	}
	want := func(when string, metres int64) {
		t.Helper()
		w.now = w.now.Add(time.Hour)
		w.look()
		var sum, days int64
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT sum(gps_m), sum(arraySum(d -> d.2, gps_by_day))
			FROM rental_sums FINAL WHERE account = 7 AND booking = %d`, rental)).Scan(&sum, &days); err != nil {
			t.Fatal(err)
		}
		if sum != metres || days != metres {
			t.Errorf("%s: %d m, by days %d m, want %d m", when, sum, days, metres)
		}
	}
	trip(1, "2026-02-10", false)
	trip(2, "2026-03-30", false)
	want("when it comes back", 8000)
	put("ALTER TABLE trips DELETE WHERE id = 1 SETTINGS mutations_sync = 2")
	trip(3, "2026-04-01", false)
	want("an early trip is gone, and one of yesterday comes", 12000)
	trip(2, "2026-03-30", true)
	want("one of the days before was none", 8000)
}

// Of a way that nobody saw for more than 62 days only the first 62 count, as in the facts of vehicles, and so in the
// same rentals whichever of them are made together.
func TestALongWayThatNobodySawCountsInTheRentalsOfItsFirstDays(t *testing.T) {
	w := open(t, "UTC")
	a := w.vehicle("", "2026-01-01")
	begun := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	w.now = begun.AddDate(0, 0, 130)
	var rentals []uint64
	for _, day := range []int{31, 70} {
		pickup := begun.AddDate(0, 0, day)
		back := pickup.AddDate(0, 0, 31)
		rentals = append(rentals, create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{
			VehicleID: v1(a), PickupAt: record.InstantOf(pickup), ReturnAt: record.InstantOf(back)}, Currency: "EUR",
			Status: record.BookingCompleted, ActualPickupAt: record.InstantOf(pickup), ActualReturnAt: record.InstantOf(back)}))
	}
	if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at,
		updated_at, distance_m, deleted)
		VALUES (7, %d, 1, 1, '2026-01-02 12:00:00', '2026-05-06 12:00:00', now64(3), 4000, false)`, a)); err != nil {
		t.Fatal(err)
	}
	want := func(when string) {
		t.Helper()
		for i, metres := range []int64{2000, 0} {
			var got int64
			if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT gps_m FROM rental_sums FINAL
				WHERE account = 7 AND booking = %d`, rentals[i])).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != metres {
				t.Errorf("%s: rental %d has %d m, want %d m", when, i, got, metres)
			}
		}
	}
	w.look()
	want("both made together")
	update(w, w.base.Bookings, rentals[1], func(b *record.Booking) { b.Notes = "made again" })
	w.now = w.now.Add(time.Hour)
	w.look()
	want("the second made by itself")
}
