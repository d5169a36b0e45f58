package desk

import (
	"context"
	"slices"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// memory is what one command has read of records that it only looks up: who rents what by which rates. It lives until the command takes
// something, so that nothing is decided by what was true before. A booking is never remembered, and a calendar only as a guess for the
// compare-and-set that decides.
type memory struct {
	mu    sync.Mutex
	known map[remembered]any
	seen  *record.Seen
	plans []query.PlanInUse // nil if they were not read

	calendar *record.Seen // of the vehicle
}

type remembered struct {
	account fleet.AccountID
	kind    string
	id      uint64
}

type memoryKey struct{}

func newMemory() *memory { return &memory{known: map[remembered]any{}} }

// in returns a context in which recall reads each record once, and those not at all that were seen.
func (m *memory) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// plansInUse returns the rate plans of an account, those that were read before in a context that remembers.
func (d *Desk) plansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error) {
	if m, ok := ctx.Value(memoryKey{}).(*memory); ok && m.plans != nil {
		return m.plans, nil
	}
	return query.PlansInUse(ctx, d.DB, account)
}

// recall returns the newest revision of a record, or that which was read before in a context that remembers. What it returns may be
// shared and must not be changed.
func recall[T any](ctx context.Context, log *record.Log[T], account fleet.AccountID, id uint64) (record.Record[T], error) {
	m, ok := ctx.Value(memoryKey{}).(*memory)
	if !ok {
		return log.Get(ctx, account, id)
	}
	key := remembered{account, log.Kind().Name, id}
	m.mu.Lock()
	found, ok := m.known[key].(record.Record[T])
	m.mu.Unlock()
	if ok {
		return found, nil
	}
	found, ok, err := log.In(m.seen, account, id)
	if !ok {
		found, err = log.Get(ctx, account, id)
	}
	if err == nil {
		m.mu.Lock()
		m.known[key] = found
		m.mu.Unlock()
	}
	return found, err
}

// sight is what a command has seen just before it takes a hold, so that it is not read again: the calendar, which is only a guess of what its newest
// revision is, and the vehicle, for its class and place. A vehicle that changes its class or is said to be elsewhere in between is as one of which that is
// said afterwards: nobody asks then what the class has promised. A search of the class's room must know the own hold (see capacity): so it waits for that.
type sight struct {
	calendar *record.Seen
	vehicle  *record.Record[record.Vehicle] // nil if it was not seen
	// listed, if not nil, returns when the tables know the holds that were taken.
	listed func() error
}

// vehicleOf returns the vehicle that a booking names; nil if it names none.
func (d *Desk) vehicleOf(ctx context.Context, account fleet.AccountID, text string) (*record.Record[record.Vehicle], error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, text)
	if err != nil {
		return nil, nil
	}
	v, err := recall(ctx, d.Vehicles, account, id)
	return &v, err
}

// refs are the records that the fields of a booking name, and the account, as far as they can be known before any is read.
func (d *Desk) refs(account fleet.AccountID, f *record.BookingFields) []record.Ref {
	refs := []record.Ref{{Kind: d.Accounts.Kind().Name, ID: uint64(account)}}
	add := func(kind, prefix, text string) {
		ref := record.Ref{Kind: kind}
		var err error
		if ref.ID, err = fleet.ParseID(prefix, text); err == nil && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	add(d.Vehicles.Kind().Name, fleet.VehiclePrefix, f.VehicleID)
	add(d.Classes.Kind().Name, fleet.ClassPrefix, f.VehicleClassID)
	add(d.Locations.Kind().Name, fleet.LocationPrefix, f.PickupLocationID)
	add(d.Locations.Kind().Name, fleet.LocationPrefix, f.ReturnLocationID)
	add(d.RatePlans.Kind().Name, fleet.RatePlanPrefix, f.RatePlanID)
	add(d.Customers.Kind().Name, fleet.CustomerPrefix, f.CustomerID)
	for _, driver := range f.Drivers {
		add(d.Customers.Kind().Name, fleet.CustomerPrefix, driver.CustomerID)
	}
	return refs
}
