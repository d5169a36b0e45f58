package desk

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// gone books a rental of a car that was over long ago, from so many hours after its beginning on.
func (l *lot) gone(t *testing.T, car string, from, until int) (Order, func(hours int) time.Time) {
	t.Helper()
	at := func(hours int) time.Time { return start.Add(time.Duration(hours-1000) * time.Hour) }
	f := l.fields(car, from, until)
	f.PickupAt, f.ReturnAt, f.Backdated = record.InstantOf(at(from)), record.InstantOf(at(until)), true
	d := l.desks[0]
	rec, err := d.Book(t.Context(), by, account, BookRequest{ID: d.Store.NextID(), Fields: f, Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	return Order{By: by, Account: account, Booking: rec.ID}, at
}

// Two rentals that were over are written down at once through two desks: one came back while the other one says to have
// driven off. However they meet, one stands.
func TestOfTwoHandoversThatOverlapWrittenAtOnceOneStands(t *testing.T) {
	l := openLot(t, 3)
	for _, car := range l.cars {
		first, at := l.gone(t, car, 0, 10)
		second, _ := l.gone(t, car, 12, 20)
		if _, err := l.desks[0].Pickup(t.Context(), first, Handover{At: at(0)}); err != nil {
			t.Fatal(err)
		}
		var errs [2]error
		var group errgroup.Group
		group.Go(func() error {
			_, errs[0] = l.desks[0].Return(context.WithoutCancel(t.Context()), first, Handover{At: at(15)})
			return nil
		})
		group.Go(func() error {
			_, errs[1] = l.desks[1].Pickup(context.WithoutCancel(t.Context()), second, Handover{At: at(12)})
			return nil
		})
		_ = group.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || errs[0] != nil && fleet.CodeOf(errs[0]) != fleet.CodeConflict ||
			errs[1] != nil && fleet.CodeOf(errs[1]) != fleet.CodeConflict {
			t.Errorf("a return: %v; a pickup before that: %v", errs[0], errs[1])
		}
		id, _ := fleet.ParseID(fleet.VehiclePrefix, car)
		holds, err := l.desks[0].Calendars.Of(t.Context(), account, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range holds {
			if h.Conflict {
				t.Errorf("the calendar keeps what was only said: %+v", h)
			}
		}
	}
}

// What a process did not bring to the table of bookings that died a moment ago is in the way all the same.
func TestAHandoverGoesByWhatWasWrittenNotByItsTable(t *testing.T) {
	l := openLot(t, 1)
	first, at := l.gone(t, l.cars[0], 0, 10)
	second, _ := l.gone(t, l.cars[0], 12, 20)
	d := l.desks[0]
	if _, err := d.Pickup(t.Context(), first, Handover{At: at(0)}); err != nil {
		t.Fatal(err)
	}
	rec, err := d.Return(t.Context(), first, Handover{At: at(15)})
	if err != nil {
		t.Fatal(err)
	}
	broken(t, d, fmt.Sprintf("ALTER TABLE bookings DELETE WHERE id = %d AND revision = %d SETTINGS mutations_sync = 1",
		rec.ID, rec.Revision))
	if _, err := l.desks[1].Pickup(t.Context(), second, Handover{At: at(12)}); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a pickup before that: %v", err)
	}
}
