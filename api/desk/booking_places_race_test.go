//go:build long

package desk

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Two cars are in Austin and two in Dallas. Through two desks at once many book the class and its cars, one way and
// back, and transfer cars: each booking of the class gets a car that is there after it all, and each car's bookings
// begin where the one before has left it.
func TestAClassIsNeverPromisedBeyondWhatIsThere(t *testing.T) {
	l := openLot(t, 4)
	d := l.desks[0]
	towns := []string{put(t, d, d.Locations, record.Location{Name: "Austin"}),
		put(t, d, d.Locations, record.Location{Name: "Dallas"})}
	homes := map[string]string{}
	for i, car := range l.cars {
		homes[car] = towns[i/2]
		if _, err := d.Vehicles.Update(t.Context(), by, account, number(fleet.VehiclePrefix, car), 0,
			func(r *record.Record[record.Vehicle]) error {
				r.Body.HomeLocationID = towns[i/2]
				return nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	type move struct {
		from, until time.Time
		begins      string
		ends        string
	}
	var mu sync.Mutex
	var ids []uint64
	moves := map[string][]move{}
	done := map[string]int{}
	ask := func(ctx context.Context, d *Desk, rng *rand.Rand) error {
		car, town, other := l.cars[rng.IntN(4)], towns[rng.IntN(2)], towns[rng.IntN(2)]
		from := rng.IntN(30)
		f := l.fields("", from, from+2+rng.IntN(8))
		f.PickupLocationID, f.ReturnLocationID = town, town
		what := rng.IntN(6)
		switch what {
		case 0:
			b := record.Block{VehicleID: car,
				BlockFields: record.BlockFields{From: f.PickupAt, Until: f.ReturnAt, Kind: "relocation", ToLocationID: other}}
			rec, err := d.Yard.Block(ctx, by, account, d.Store.NextID(), b)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done["transfer"]++
				moves[car] = append(moves[car],
					move{rec.Body.From.Time, rec.Body.Until.Time, rec.Body.FromLocationID, rec.Body.ToLocationID})
				return nil
			}
			done["refused"]++
			if !refusal(err) {
				return err
			}
			return nil
		case 1:
			f.VehicleID, f.VehicleClassID = car, ""
		case 2:
			f.ReturnLocationID = other
		}
		rec, err := d.Book(ctx, by, account, BookRequest{ID: d.Store.NextID(), Fields: f, Confirm: true})
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			done["refused"]++
			if !refusal(err) {
				return err
			}
			return nil
		}
		done["booked"]++
		ids = append(ids, rec.ID)
		return nil
	}
	for round := range uint64(2) {
		var group errgroup.Group
		for worker := range uint64(6) {
			group.Go(func() error {
				rng := rand.New(rand.NewPCG(round, worker))
				for range 3 {
					if err := ask(t.Context(), l.desks[worker%2], rng); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%v", done)
	if done["booked"] < 4 || done["refused"] < 4 {
		t.Error("too little happened")
	}
	for _, id := range ids {
		rec, err := d.Bookings.Get(t.Context(), account, id)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(l.cars) && rec.Body.VehicleID == ""; i++ {
			if given, err := l.desks[1].Assign(t.Context(), Order{By: by, Account: account, Booking: id}, l.cars[i],
				false); err == nil {
				rec = given
			}
		}
		b := rec.Body
		if b.VehicleID == "" {
			t.Errorf("no car is left for booking %d", id)
			continue
		}
		moves[b.VehicleID] = append(moves[b.VehicleID],
			move{b.PickupAt.Time, b.ReturnAt.Time, b.PickupLocationID, b.ReturnLocationID})
	}
	for car, trips := range moves {
		slices.SortFunc(trips, func(a, b move) int { return cmp.Compare(a.from.UnixNano(), b.from.UnixNano()) })
		place, free := homes[car], time.Time{}
		for _, m := range trips {
			if m.begins != place || m.from.Before(free) {
				t.Errorf("%s is wanted at %s at %v, and is at %s from %v", car, m.begins, m.from, place, free)
			}
			place, free = m.ends, m.until
		}
	}
}
