package rent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/bulk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

const (
	// togetherMost is how many bookings a lot has, of which an import brings two at once: what is decided is to be written
	// within seconds, as revisions bear the time at which they were decided, and who looks for new ones does not look back
	// for ever.
	togetherMost = 1000
	// togetherTries is how often the bookings of a vehicle are decided in memory of which something has moved meanwhile.
	togetherTries = 3
	// togetherAtOnce is of how many vehicles of a lot bookings are decided at once.
	togetherAtOnce = 4
)

// writeTogether makes new bookings in memory, those of a vehicle upon its calendar, and writes them in large inserts
// (package bulk). Those without a vehicle are for writeBooking, as are those that want a value for themselves, such as
// a reservation's id, which is not free; those that cannot be decided in memory; and those of vehicles whose calendars
// move again and again.
func (a *API) writeTogether(r *http.Request, ids []uint64, bodies []record.Booking) []error {
	t := together{api: a, by: rest.Author(r), account: auth.From(r.Context()).Account, ids: ids, bodies: bodies,
		errs: make([]error, len(ids))}
	open := map[uint64][]int{}
	for i := range bodies {
		t.errs[i] = record.ErrNotYet
		if vehicle, err := fleet.ParseID(fleet.VehiclePrefix, bodies[i].VehicleID); err == nil {
			open[vehicle] = append(open[vehicle], i)
		}
	}
	for try := 0; len(open) > 0 && try < togetherTries; try++ {
		var err error
		if open, err = t.write(r.Context(), open); err != nil {
			for _, which := range open {
				for _, i := range which {
					t.errs[i] = err
				}
			}
			break
		}
	}
	return t.errs
}

// together are new bookings that are made at once.
type together struct {
	api     *API
	by      record.Author
	account fleet.AccountID
	ids     []uint64
	bodies  []record.Booking
	errs    []error
}

// write decides the bookings of some vehicles in memory and writes them. It returns those of the vehicles of which
// nothing stands, as they have moved, or after an error those of which it is not known.
func (t *together) write(ctx context.Context, open map[uint64][]int) (map[uint64][]int, error) {
	refs, values := t.names(open)
	much, err := bulk.Among(ctx, t.api.desk, t.account, refs, values)
	if err != nil {
		return open, err
	}
	vehicles := slices.Sorted(maps.Keys(open))
	drafts := make([]*bulk.Draft, len(vehicles))
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(togetherAtOnce)
	for n, vehicle := range vehicles {
		work.Go(func() (err error) {
			if drafts[n], err = much.Draft(record.Ref{Kind: calendar.Kind.Name, ID: vehicle}, nil, nil); err != nil {
				return fmt.Errorf("bookings of %s: %w", fleet.FormatID(fleet.VehiclePrefix, vehicle), err)
			}
			for _, i := range open[vehicle] {
				_, t.errs[i] = drafts[n].Book(inner, t.by, t.account, t.api.bookRequest(t.ids[i], &t.bodies[i]))
				if errors.Is(t.errs[i], record.ErrTaken) {
					t.errs[i] = record.ErrNotYet // it is to be made under another id
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return open, err
	}
	moved, err := much.Write(ctx, drafts...)
	if err != nil {
		return open, err
	}
	again := map[uint64][]int{}
	for _, d := range moved {
		vehicle := vehicles[slices.Index(drafts, d)]
		again[vehicle] = open[vehicle]
		for _, i := range open[vehicle] {
			t.errs[i] = record.ErrNotYet
		}
	}
	return again, nil
}

// names returns the records that bookings name, and the bookings, and the values that they want for themselves.
func (t *together) names(open map[uint64][]int) (refs []record.Ref, values []record.Claim) {
	seen := map[record.Ref]bool{}
	for _, which := range open {
		for _, i := range which {
			for _, ref := range t.api.desk.Refs(t.account, &t.bodies[i].BookingFields) {
				seen[ref] = true
			}
			seen[record.Ref{Kind: record.Bookings.Name, ID: t.ids[i]}] = true
			values = append(values, record.Bookings.Claims(&t.bodies[i])...)
		}
	}
	return slices.Collect(maps.Keys(seen)), values
}
