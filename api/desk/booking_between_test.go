//go:build long

package desk

import (
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
)

// A vehicle that is archived after a booking was worked out, and before that has taken its hold, is not given to it.
func TestAVehicleThatIsArchivedInBetweenIsNotBooked(t *testing.T) {
	l := openLot(t, 2)
	d := l.desks[0]
	id, _ := fleet.ParseID(fleet.VehiclePrefix, l.cars[0])
	archive := func() error {
		leaving := d.Yard.Leave(by, account, id)
		_, err := d.Vehicles.Archive(t.Context(), by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
			return leaving.MayArchive(t.Context(), r)
		})
		leaving.Done(t.Context(), err)
		return err
	}
	req := BookRequest{ID: d.Store.NextID(), Fields: l.fields(l.cars[0], 0, 10), Confirm: true}
	b, err := d.draft(t.Context(), account, req)
	if err != nil {
		t.Fatal(err)
	}
	if err := archive(); err != nil {
		t.Fatal(err)
	}
	if rec, err := d.open(t.Context(), by, account, req.ID, b, holding.Ask, holding.AlreadyRead{}); !refusal(err) {
		t.Errorf("it was booked: %+v, %v", rec.Body.VehicleID, err)
	}
	// However much later.
	later := l.later()
	if rec, err := later.open(t.Context(), by, account, later.Store.NextID(), b, holding.Ask,
		holding.AlreadyRead{}); !refusal(err) {
		t.Errorf("it was booked after all: %+v, %v", rec.Body.VehicleID, err)
	}
	// A booking that came first keeps it from being archived.
	if _, err := l.book(t.Context(), d, l.cars[1], 0, 10); err != nil {
		t.Fatal(err)
	}
	if id, _ = fleet.ParseID(fleet.VehiclePrefix, l.cars[1]); fleet.CodeOf(archive()) != fleet.CodeConflict {
		t.Error("a vehicle was archived that a booking wants")
	}
}

// Of two that archive a vehicle at once, from different processes, one may be refused while the other is about to
// write: that one's hold stays.
func TestWhoIsRefusedToArchiveTakesNothingFromAnother(t *testing.T) {
	l := openLot(t, 1)
	id := number(fleet.VehiclePrefix, l.cars[0])
	rec, err := l.desks[0].Vehicles.Get(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	first, second := l.desks[0].Yard.Leave(by, account, id), l.desks[1].Yard.Leave(by, account, id)
	for _, leaving := range []*yard.Leaving{first, second, first} { // a write that lost asks again
		if err := leaving.MayArchive(t.Context(), &rec); err != nil {
			t.Fatal(err)
		}
	}
	held := func(want int) {
		t.Helper()
		if holds, err := l.desks[0].Calendars.Of(t.Context(), account, id); err != nil || len(holds) != want {
			t.Errorf("it holds %v, want %d: %v", holds, want, err)
		}
	}
	held(2)
	second.Done(t.Context(), fleet.NewError(fleet.CodeStale, "somebody changed it"))
	held(1)
	if _, err := l.desks[0].Vehicles.Archive(t.Context(), by, account, id, 0, nil); err != nil {
		t.Fatal(err)
	}
	first.Done(t.Context(), nil)
	held(1)
	// What is not known to have failed is left to the duty.
	third := l.desks[1].Yard.Leave(by, account, id)
	if err := third.MayArchive(t.Context(), &rec); err != nil {
		t.Fatal(err)
	}
	third.Done(t.Context(), fleet.NewError(fleet.CodeUnavailable, "nobody knows"))
	held(2)
}

// Whoever was to archive a vehicle may die after the vehicle has taken its own calendar: it is given back, but by
// nobody before the archiving can come to nothing only, and never of a vehicle that is archived or retired.
func TestWhatAVehicleLeftHeldIsGivenBack(t *testing.T) {
	l := openLot(t, 3)
	d := l.desks[0]
	var ids []uint64
	for _, car := range l.cars {
		id := number(fleet.VehiclePrefix, car)
		rec, err := d.Vehicles.Get(t.Context(), account, id)
		if err == nil {
			err = d.Yard.Leave(by, account, id).MayArchive(t.Context(), &rec)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if _, err := d.Vehicles.Archive(t.Context(), by, account, ids[1], 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Vehicles.Update(t.Context(), by, account, ids[2], 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.Status = record.VehicleRetired
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		desk *Desk
		want []int
	}{{d, []int{1, 1, 1}}, {l.later(), []int{0, 1, 1}}} {
		if err := c.desk.Duty(t.Context(), "vehicle holds"); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if holds, err := d.Calendars.Of(t.Context(), account, id); err != nil || len(holds) != c.want[i] {
				t.Errorf("vehicle %d holds %v, want %d: %v", i, holds, c.want[i], err)
			}
		}
	}
}

// A process whose clock is ahead by less than a minute does not take for abandoned what another is about to write.
func TestClocksMayDiffer(t *testing.T) {
	l := openLot(t, 1)
	slow, fast := l.desks[0], l.desks[1]
	cfg := calendar.DefaultConfig()
	now := time.Now()
	slow.Now = func() time.Time { return now }
	slow.Holds.OpenCalendars(cfg)
	req := BookRequest{ID: slow.Store.NextID(), Fields: l.fields(l.cars[0], 0, 10), Confirm: true}
	b, err := slow.draft(t.Context(), account, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := slow.Holds.TakeFor(t.Context(), by, account, req.ID, 1, nil, b, holding.Ask,
		holding.AlreadyRead{}); err != nil {
		t.Fatal(err)
	}
	// The last moment at which the first may be written, by the clock that is ahead.
	fast.Now = func() time.Time { return now.Add(slow.WriteWithin + 59*time.Second) }
	fast.Holds.OpenCalendars(cfg)
	if other, err := l.book(t.Context(), fast, l.cars[0], 5, 15); !refusal(err) {
		t.Errorf("the vehicle was given to booking %d before the first could be written: %v", other.ID, err)
	}
	if _, _, err := slow.Bookings.Create(t.Context(), by, account, req.ID, *b); err != nil {
		t.Fatal(err)
	}
	l.holdings(t, []uint64{req.ID})
}

// A hold that one process takes for lapsed, and another does not yet, is confirmed only if nobody has the
// vehicle by then.
func TestALapsedHoldIsConfirmedByNobodysClock(t *testing.T) {
	l := openLot(t, 1)
	slow, fast := l.desks[0], l.desks[1]
	pending, err := slow.Book(t.Context(), by, account,
		BookRequest{ID: slow.Store.NextID(), Fields: l.fields(l.cars[0], 0, 10), HoldFor: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	fast.Now = func() time.Time { return time.Now().Add(59 * time.Second) }
	fast.Holds.OpenCalendars(calendar.DefaultConfig())
	other, err := l.book(t.Context(), fast, l.cars[0], 5, 15)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Confirm(t.Context(), Order{By: by, Account: account, Booking: pending.ID}); !refusal(err) {
		t.Errorf("both have it: %v", err)
	}
	if rec, err := slow.Bookings.Get(t.Context(), account, other.ID); err != nil ||
		rec.Body.Status != record.BookingConfirmed {
		t.Errorf("the other one is %s: %v", rec.Body.Status, err)
	}
}
