//go:build long

package desk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
)

// holdings reads all bookings back and holds them against each other and against the calendars: no two that hold a
// vehicle overlap, and the calendars say what the bookings say.
func (l *lot) holdings(t *testing.T, ids []uint64) map[string][]record.Booking {
	t.Helper()
	d := l.desks[0]
	all := map[string][]record.Booking{}
	wanted := map[string]bool{}
	for _, id := range ids {
		rec, err := d.Bookings.Get(t.Context(), account, id)
		if err != nil {
			t.Fatal(err)
		}
		b := rec.Body
		if at, h := holding.BookingHold(id, &b); h != nil {
			for _, o := range all[b.VehicleID] {
				if b.VehicleID != "" && o.BlockedFrom.Before(b.BlockedUntil.Time) && b.BlockedFrom.Before(o.BlockedUntil.Time) {
					t.Errorf("%s has two bookings: %v-%v and %v-%v", b.VehicleID, o.BlockedFrom, o.BlockedUntil, b.BlockedFrom,
						b.BlockedUntil)
				}
			}
			all[b.VehicleID] = append(all[b.VehicleID], b)
			wanted[fmt.Sprint(at, h.Ref, h.From.UnixMilli(), h.Until.UnixMilli())] = true
		}
	}
	class, _ := fleet.ParseID(fleet.ClassPrefix, l.class)
	places := []holding.Place{{Class: class}}
	for _, car := range l.cars {
		id, _ := fleet.ParseID(fleet.VehiclePrefix, car)
		places = append(places, holding.Place{Vehicle: id})
	}
	for _, p := range places {
		cals, key := d.Holds.CalendarOf(p)
		holds, err := cals.Of(t.Context(), account, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range holds {
			mark := fmt.Sprint(p, h.Ref, h.From.UnixMilli(), h.Until.UnixMilli())
			if !wanted[mark] {
				t.Errorf("the calendar of %v has %s from %v until %v, which no booking says", p, h.Ref, h.From, h.Until)
			}
			delete(wanted, mark)
		}
	}
	for mark := range wanted {
		t.Errorf("no calendar has %s", mark)
	}
	return all
}

// A class has three vehicles. Many book the class or one of its vehicles at the same time, through two desks: no more
// get through than there are vehicles, and as many as there are when the dust has settled.
func TestAClassIsNeverBookedBeyondItsVehicles(t *testing.T) {
	l := openLot(t, 3)
	var mu sync.Mutex
	var ids []uint64
	var group errgroup.Group
	for i := range 8 {
		group.Go(func() error {
			car := ""
			if i%2 == 0 {
				car = l.cars[i/2%3]
			}
			rec, err := l.book(t.Context(), l.desks[i%2], car, 0, 24)
			if err != nil {
				if refusal(err) {
					return nil
				}
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, rec.ID)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(ids) > 3 || len(ids) == 0 {
		t.Errorf("%d of 3 got through", len(ids))
	}
	for i := range 3 {
		if rec, err := l.book(t.Context(), l.desks[i%2], "", 0, 24); err == nil {
			ids = append(ids, rec.ID)
		} else if !refusal(err) {
			t.Fatal(err)
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d bookings of 3 vehicles in the end", len(ids))
	}
	// Each booking of the class gets a vehicle.
	all := l.holdings(t, ids)
	for _, id := range ids {
		rec, err := l.desks[0].Bookings.Get(t.Context(), account, id)
		if err != nil || rec.Body.VehicleID != "" {
			continue
		}
		given := false
		for _, car := range l.cars {
			_, err := l.desks[1].Assign(t.Context(), Order{By: by, Account: account, Booking: id}, car, false)
			if given = err == nil; given {
				break
			}
		}
		if !given {
			t.Errorf("no vehicle is left for booking %d, held are %v", id, all)
		}
	}
	l.holdings(t, ids)
	if _, err := l.book(t.Context(), l.desks[0], "", 23, 30); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a fourth: %v", err)
	}
	if _, err := l.book(t.Context(), l.desks[0], "", 24, 30); err != nil {
		t.Errorf("the day after: %v", err)
	}
}

// A long booking of a class needs one vehicle throughout: one of a vehicle that leaves it none is refused, though at
// every moment there is one.
func TestAClassKeepsAVehicleThroughout(t *testing.T) {
	l := openLot(t, 2)
	if _, err := l.book(t.Context(), l.desks[0], l.cars[0], 0, 10); err != nil {
		t.Fatal(err)
	}
	long, err := l.book(t.Context(), l.desks[0], "", 5, 20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.book(t.Context(), l.desks[1], l.cars[1], 12, 15); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("the vehicle that the class booking needs: %v", err)
	}
	if _, err := l.book(t.Context(), l.desks[1], l.cars[0], 12, 15); err != nil {
		t.Errorf("the one that it cannot have anyway: %v", err)
	}
	if _, err := l.desks[1].Assign(t.Context(), Order{By: by, Account: account, Booking: long.ID}, l.cars[1],
		false); err != nil {
		t.Error(err)
	}
}

// A command that took long answers with what it did, like any other.
func TestACommandThatTookLongAnswers(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	rec, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	d.MayRun = 0
	if got, err := d.Cancel(t.Context(), Order{By: by, Account: account, Booking: rec.ID}, CancelRequest{}); err != nil ||
		got.ID != rec.ID || got.Body.Status != record.BookingCancelled {
		t.Errorf("booking %d is %q, %v", got.ID, got.Body.Status, err)
	}
}

// Many book, extend, swap, cancel, pick up and return at random, through two desks at once.
func TestRandomCommandsNeverBookAVehicleTwice(t *testing.T) {
	l := openLot(t, 2)
	var mu sync.Mutex
	var ids []uint64
	done := map[string]int{}
	var group errgroup.Group
	for worker := range 6 {
		group.Go(func() error {
			d, random := l.desks[worker%2], rand.New(rand.NewPCG(uint64(worker), 11))
			for n := 0; n < 100; n++ {
				mu.Lock()
				known := slices.Clone(ids)
				enough := done["0"] > 0 && done["3"] > 0 && done["6"] > 0 && done["refused"] > 0
				mu.Unlock()
				if n >= 10 && enough {
					break
				}
				what, from := random.IntN(8), random.IntN(40)
				var err error
				if what < 3 || len(known) == 0 {
					var rec record.Record[record.Booking]
					if rec, err = l.book(t.Context(), d, l.cars[random.IntN(2)], from, from+1+random.IntN(8)); err == nil {
						mu.Lock()
						ids = append(ids, rec.ID)
						mu.Unlock()
					}
					what = 0
				} else {
					o := Order{By: by, Account: account, Booking: known[random.IntN(len(known))]}
					switch what {
					case 3, 4:
						_, err = d.Extend(t.Context(), o, start.Add(time.Duration(from+random.IntN(12))*time.Hour))
						what = 3
					case 5:
						_, err = d.Swap(t.Context(), o, SwapRequest{VehicleID: l.cars[random.IntN(2)]})
					case 6:
						_, err = d.Cancel(t.Context(), o, CancelRequest{})
					case 7:
						_, err = d.Change(t.Context(), o, true, func(r *record.Record[record.Booking]) error {
							r.Body.PickupAt = record.InstantOf(start.Add(time.Duration(from) * time.Hour))
							r.Body.ReturnAt = record.InstantOf(start.Add(time.Duration(from+2) * time.Hour))
							return nil
						})
					}
				}
				mu.Lock()
				if err == nil {
					done[fmt.Sprint(what)]++
				} else {
					done["refused"]++
				}
				mu.Unlock()
				if err != nil && !refusal(err) {
					return errors.Join(fmt.Errorf("command %d", what), err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	l.holdings(t, ids)
	for _, what := range []string{"0", "3", "6", "refused"} {
		if done[what] == 0 {
			t.Errorf("too little happened: %v", done)
		}
	}
	conflicts, err := auditAll(t, l.desks[0])
	if err != nil || conflicts != 0 {
		t.Errorf("the audit finds %d, %v", conflicts, err)
	}
	if records, claims, err := l.desks[0].Store.Audit(t.Context()); err != nil || records+claims != 0 {
		t.Errorf("%d revisions and %d claims have two authors, %v", records, claims, err)
	}
}

// later is a desk for which what was taken until now is old enough to be abandoned.
func (l *lot) later() *Desk {
	d := l.desks[1]
	d.Now = func() time.Time { return time.Now().Add(time.Hour) }
	d.Holds.OpenCalendars(calendar.Config{Abandoned: 10 * time.Minute, Kept: 24 * time.Hour})
	return d
}

// A booking is shortened by a process that dies before the calendar says so. What the calendar still has of it is not
// what the booking wants: but whoever finds that in the way does not get what the booking keeps.
func TestWhatWasShortenedIsNotGivenAway(t *testing.T) {
	l := openLot(t, 1)
	rec, err := l.book(t.Context(), l.desks[0], l.cars[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	mute, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, l.desks[0].DB,
		fleet.NewIDSource(9, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.NewLog(mute, record.Bookings).Update(t.Context(), by, account, rec.ID, rec.Revision,
		func(r *record.Record[record.Booking]) error {
			r.Body.ReturnAt = record.InstantOf(start.Add(5 * time.Hour))
			block(&r.Body, 0, 0)
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	later := l.later()
	if other, err := l.book(t.Context(), later, l.cars[0], 2, 8); !refusal(err) {
		t.Errorf("the vehicle was given to booking %d too: %v", other.ID, err)
	}
	next, err := l.book(t.Context(), later, l.cars[0], 5, 8)
	if err != nil {
		t.Fatalf("what the booking gave up is not free: %v", err)
	}
	l.holdings(t, []uint64{rec.ID, next.ID})
}

// Of two changes of one block one is written. What the other took is nobody's after a while, and what the one
// says stays taken.
func TestABlockHoldsWhatItSays(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	at := func(hour int) record.Instant { return record.InstantOf(start.Add(time.Duration(hour) * time.Hour)) }
	rec, err := d.Yard.Block(t.Context(), by, account, d.Store.NextID(),
		record.Block{VehicleID: l.cars[0], BlockFields: record.BlockFields{From: at(0), Until: at(1), Kind: "manual"}})
	if err != nil {
		t.Fatal(err)
	}
	move := func(from, until int) func(*record.Record[record.Block]) error {
		return func(r *record.Record[record.Block]) error {
			r.Body.From, r.Body.Until = at(from), at(until)
			return nil
		}
	}
	if _, err := d.Yard.ChangeBlock(t.Context(), by, account, rec.ID, func(r *record.Record[record.Block]) error {
		if r.Revision != rec.Revision {
			return fleet.NewError(fleet.CodeStale, "There is a newer revision.")
		}
		if _, err := l.desks[1].Yard.ChangeBlock(t.Context(), by, account, rec.ID, move(5, 8)); err != nil {
			return err
		}
		return move(1, 3)(r)
	}); fleet.CodeOf(err) != fleet.CodeStale {
		t.Fatalf("the second change: %v", err)
	}
	later := l.later()
	if _, err := l.book(t.Context(), later, l.cars[0], 5, 6); !refusal(err) {
		t.Errorf("the blocked time was given away: %v", err)
	}
	if _, err := l.book(t.Context(), later, l.cars[0], 1, 3); err != nil {
		t.Errorf("what no block wants is held: %v", err)
	}
	// Shortened: what it gives up is free, what it keeps is not.
	if _, err := d.Yard.ChangeBlock(t.Context(), by, account, rec.ID, move(6, 8)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.book(t.Context(), later, l.cars[0], 5, 6); err != nil {
		t.Errorf("what the block gave up: %v", err)
	}
	if _, err := d.Blocks.Archive(t.Context(), by, account, rec.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.book(t.Context(), later, l.cars[0], 6, 8); err != nil {
		t.Errorf("after the block: %v", err)
	}
}
