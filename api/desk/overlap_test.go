package desk

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// lot is two desks on one database, as two processes have them, with a class, cars of it and a customer.
type lot struct {
	desks           [2]*Desk
	class, customer string
	cars            []string
}

func openLot(t *testing.T, cars int) *lot {
	t.Helper()
	l := &lot{}
	db := schematest.Open(t)
	for i := range l.desks {
		store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
			fleet.NewIDSource(uint64(i+1), time.Now), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		l.desks[i] = New(store, db, time.Now, slog.New(slog.DiscardHandler))
		// a busy machine may need more than the usual time
		l.desks[i].Holds.OpenCalendars(calendar.Config{Abandoned: 10 * time.Minute, Kept: 24 * time.Hour})
	}
	d := l.desks[0]
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "UTC", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	l.class = put(t, d, d.Classes, record.VehicleClass{Name: "C", DailyRate: &record.Money{Amount: 5000, Currency: "USD"}})
	for range cars {
		l.cars = append(l.cars, put(t, d, d.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A",
			Model: "B", ClassID: l.class}, Status: record.VehicleAvailable}))
	}
	l.customer = put(t, d, d.Customers, record.Customer{})
	return l
}

// start is when bookings of these tests may begin: tomorrow.
var start = time.Now().Add(24 * time.Hour).Truncate(time.Hour)

func (l *lot) fields(car string, from, until int) record.BookingFields {
	f := record.BookingFields{CustomerID: l.customer, VehicleID: car,
		PickupAt: record.InstantOf(start.Add(time.Duration(from) * time.Hour)),
		ReturnAt: record.InstantOf(start.Add(time.Duration(until) * time.Hour))}
	if car == "" {
		f.VehicleClassID = l.class
	}
	return f
}

func (l *lot) book(ctx context.Context, d *Desk, car string, from, until int) (record.Record[record.Booking], error) {
	return d.Book(ctx, by, account, BookRequest{ID: d.Store.NextID(), Fields: l.fields(car, from, until), Confirm: true})
}

// What the log has counts before any table knows it: a car that was taken a moment ago is promised to nobody, and one
// that was given back is.
func TestAClassIsNotPromisedACarOfWhichNoTableKnowsYetThatItIsTaken(t *testing.T) {
	l := openLot(t, 2)
	d, other := l.desks[0], l.desks[1]
	var taken []record.Record[record.Booking]
	for _, car := range l.cars {
		rec, err := l.book(t.Context(), d, car, 10, 20)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, rec)
	}
	forget := func() {
		if err := d.DB.Exec(t.Context(), "TRUNCATE TABLE calendars"); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	if _, err := l.book(t.Context(), other, "", 12, 14); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Fatalf("of a class of which all cars are taken: %v", err)
	}
	if _, err := l.book(t.Context(), other, "", 30, 40); err != nil {
		t.Fatalf("at another time: %v", err)
	}
	cancelled := Order{By: by, Account: account, Booking: taken[0].ID}
	if _, err := d.Cancel(t.Context(), cancelled, CancelRequest{}); err != nil {
		t.Fatal(err)
	}
	forget()
	if _, err := l.book(t.Context(), other, "", 12, 14); err != nil {
		t.Fatalf("of a class of which a car was given back: %v", err)
	}
	forget()
	if _, err := l.book(t.Context(), other, l.cars[0], 12, 14); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Fatalf("a car that the class needs: %v", err)
	}
}

// The audit flags what overlaps and takes flags back from what does not any more.
func TestTheAuditFindsWhatOverlaps(t *testing.T) {
	l := openLot(t, 2)
	d := l.desks[0]
	var ids []uint64
	for _, b := range []struct {
		car         string
		from, until int
	}{{l.cars[0], 0, 10}, {l.cars[0], 20, 30}, {l.cars[1], 0, 10}} {
		rec, err := l.book(t.Context(), d, b.car, b.from, b.until)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID)
	}
	imported, err := d.draft(t.Context(), account, BookRequest{Fields: l.fields(l.cars[0], 5, 15), Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := d.open(t.Context(), by, account, d.Store.NextID(), imported, holding.Seize, holding.AlreadyRead{})
	if err != nil || !rec.Body.Conflict {
		t.Fatalf("conflict %v, %v", rec.Body.Conflict, err)
	}
	flags := func() string {
		text := ""
		for _, id := range append(ids, rec.ID) {
			r, err := d.Bookings.Get(t.Context(), account, id)
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprint(r.Body.Conflict, " ")
		}
		return text
	}
	if err := d.auditOverlaps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := flags(); got != "true false false true " {
		t.Errorf("flags %s", got)
	}
	if _, err := d.Swap(t.Context(), Order{By: by, Account: account, Booking: rec.ID},
		SwapRequest{VehicleID: l.cars[1]}); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a swap onto a vehicle that is taken: %v", err)
	}
	if _, err := d.Cancel(t.Context(), Order{By: by, Account: account, Booking: ids[0]}, CancelRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := d.auditOverlaps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := flags(); got != "false false false false " {
		t.Errorf("flags %s after one was cancelled", got)
	}
}

// After a crash the tables may say what has not been so for a while: nobody is flagged for that.
func TestTheAuditDoesNotBelieveTheTables(t *testing.T) {
	l := openLot(t, 2)
	d := l.desks[0]
	one, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.book(t.Context(), d, l.cars[1], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	broken(t, d, fmt.Sprintf("INSERT INTO bookings SELECT * REPLACE ('%s' AS vehicle_id, revision + 1 AS revision) FROM bookings WHERE id = %d", l.cars[0], other.ID))
	if found, err := auditAll(t, d); err != nil || found != 2 {
		t.Fatalf("the tables are not behind: %d, %v", found, err)
	}
	if err := d.auditOverlaps(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []uint64{one.ID, other.ID} {
		if r, err := d.Bookings.Get(t.Context(), account, id); err != nil || r.Body.Conflict {
			t.Errorf("booking %d is flagged, %v", id, err)
		}
	}
}

// Of two to whom a vehicle was sold whoever comes first gets it, also a little early, but not what is somebody else's
// in between; and what a process left that died over the other's pickup is in nobody's way for ever.
func TestWhoComesEarlyTakesNothingFromOthers(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	between, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.book(t.Context(), d, l.cars[0], 25, 35)
	if err != nil {
		t.Fatal(err)
	}
	imported, err := d.draft(t.Context(), account, BookRequest{Fields: l.fields(l.cars[0], 20, 30), Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := d.open(t.Context(), by, account, d.Store.NextID(), imported, holding.Seize, holding.AlreadyRead{})
	if err != nil || !rec.Body.Conflict {
		t.Fatalf("conflict %v, %v", rec.Body.Conflict, err)
	}
	at, left := holding.BookingHold(other.ID, &other.Body)
	left.Open, left.Conflict, left.Rev, left.Bid = true, true, other.Revision+1, d.Store.NextID()
	if _, err := d.Calendars.Take(t.Context(), by, account, at.Vehicle, *left); err != nil {
		t.Fatal(err)
	}
	o := Order{By: by, Account: account, Booking: rec.ID}
	if _, err := d.Pickup(t.Context(), o, Handover{}); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a pickup a day early: %v", err)
	}
	if r, err := d.Bookings.Get(t.Context(), account, between.ID); err != nil || r.Body.Conflict {
		t.Errorf("the one in between is flagged, %v", err)
	}
	d.Now = func() time.Time { return start.Add(20*time.Hour - 5*time.Minute) }
	d.Holds.OpenCalendars(calendar.Config{Abandoned: 10 * time.Minute, Kept: 24 * time.Hour})
	if r, err := d.Pickup(t.Context(), o, Handover{}); err != nil || !r.Body.Conflict ||
		r.Body.Status != record.BookingActive {
		t.Errorf("a pickup five minutes early: %s, conflict %v, %v", r.Body.Status, r.Body.Conflict, err)
	}
	if _, err := d.Pickup(t.Context(), Order{By: by, Account: account, Booking: other.ID},
		Handover{}); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("the other one drives off with it too: %v", err)
	}
}

// Work in the buffer after a rental overlaps nothing; a rental that is overdue runs into it.
func TestTheAuditLeavesWorkInABufferAlone(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	id, _ := fleet.ParseID(fleet.VehiclePrefix, l.cars[0])
	if _, err := d.Vehicles.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.BufferAfterMinutes = 120
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rec, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	from := rec.Body.ReturnAt
	if _, err := d.Yard.Block(t.Context(), by, account, d.Store.NextID(), record.Block{VehicleID: l.cars[0],
		BlockFields: record.BlockFields{From: from, Until: record.InstantOf(from.Add(time.Hour)),
			Kind: "repair"}}); err != nil {
		t.Fatal(err)
	}
	flagged := func(at time.Time) bool {
		t.Helper()
		d.Now = func() time.Time { return at }
		if err := d.auditOverlaps(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := d.Bookings.Get(t.Context(), account, rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Body.Conflict
	}
	found, err := query.BookingConflicts(t.Context(), d.DB, time.Now(), query.AccountBooking{}, d.DuePage)
	if err != nil || len(found) != 0 || flagged(time.Now()) {
		t.Errorf("the buffer counts: %v, %v", found, err)
	}
	d.Now = func() time.Time { return start.Add(time.Minute) }
	if _, err := d.Pickup(t.Context(), Order{By: by, Account: account, Booking: rec.ID}, Handover{}); err != nil {
		t.Fatal(err)
	}
	if flagged(start.Add(5 * time.Hour)) {
		t.Error("one that is out is flagged before it is due")
	}
	if !flagged(from.Add(30 * time.Minute)) {
		t.Error("one that is overdue while the vehicle is blocked is not flagged")
	}
}

// auditAll counts what the overlap audit finds.
func auditAll(t *testing.T, d *Desk) (int, error) {
	t.Helper()
	found, err := query.BookingConflicts(t.Context(), d.DB, time.Now(), query.AccountBooking{}, d.DuePage)
	return len(found), err
}

// broken writes rows into a current table that no record bears out.
func broken(t *testing.T, d *Desk, insert string) {
	t.Helper()
	if err := d.DB.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
}
