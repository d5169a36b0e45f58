package base

import (
	"context"
	"slices"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Memory is what one command has read of records that it only looks up: who rents what by which rates. It lives until
// the command takes something, so that nothing is decided by what was true before. A booking is never remembered, and a
// calendar only as a guess for the compare-and-set that decides.
type Memory struct {
	mu     sync.Mutex
	read   map[remembered]any
	Seen   *record.Seen
	Plans  []query.PlanInUse // nil if they were not read
	Listed *bool             // whether anybody may be on the do-not-rent list; nil if that was not asked
	Lookup bool              // what is in memory comes from there: see Recalling

	Calendar *record.Seen // of the vehicle
}

type remembered struct {
	account fleet.AccountID
	kind    string
	id      uint64
}

type memoryKey struct{}

// NewMemory returns a memory in which nothing has been read yet.
func NewMemory() *Memory { return &Memory{read: map[remembered]any{}} }

// In returns a context in which recall reads each record once, and those not at all that were seen.
func (m *Memory) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// Recalling does something that only looks records up: with lookup, what is in memory comes from there, where another
// process may have written a moment ago what is not there yet. What is refused by that is done again by
// the store alone.
func (d *Base) Recalling(do func(lookup bool) error) error {
	if d.Store.Remembers() && do(true) == nil {
		return nil
	}
	return do(false)
}

// MemoryIn returns the memory of a context that remembers, nil for any other.
func MemoryIn(ctx context.Context) *Memory {
	m, _ := ctx.Value(memoryKey{}).(*Memory)
	return m
}

// PlansInUse returns the rate plans of an account, those that were read before in a context that remembers.
func (d *Base) PlansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error) {
	if m := MemoryIn(ctx); m != nil && m.Plans != nil {
		return m.Plans, nil
	}
	return d.Reads.PlansInUse(ctx, account)
}

// Recall returns the newest revision of a record, or that which was read before in a context that remembers. What it
// returns may be shared and must not be changed.
func Recall[T any](ctx context.Context, log *record.Log[T], account fleet.AccountID,
	id uint64) (record.Record[T], error) {
	m := MemoryIn(ctx)
	if m == nil {
		return log.Get(ctx, account, id)
	}
	key := remembered{account, log.Kind().Name, id}
	m.mu.Lock()
	found, ok := m.read[key].(record.Record[T])
	m.mu.Unlock()
	if ok {
		return found, nil
	}
	found, ok, err := log.In(m.Seen, account, id)
	if !ok && m.Lookup {
		found, err = log.Recall(ctx, account, id)
	} else if !ok {
		found, err = log.Get(ctx, account, id)
	}
	if err == nil {
		m.mu.Lock()
		m.read[key] = found
		m.mu.Unlock()
	}
	return found, err
}

// VehicleOf returns the vehicle that a booking names; nil if it names none.
func (d *Base) VehicleOf(ctx context.Context, account fleet.AccountID,
	text string) (*record.Record[record.Vehicle], error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, text)
	if err != nil {
		return nil, nil
	}
	v, err := Recall(ctx, d.Vehicles, account, id)
	return &v, err
}

// Refs are the records that the fields of a booking name, and the account, as far as they can be known
// before any is read.
func (d *Base) Refs(account fleet.AccountID, f *record.BookingFields) []record.Ref {
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

// LocationExists refuses the id of a location that the account does not have; pointer is the member that names it.
func (d *Base) LocationExists(ctx context.Context, account fleet.AccountID, pointer, text string) error {
	id, err := fleet.ParseID(fleet.LocationPrefix, text)
	if err == nil {
		_, err = Recall(ctx, d.Locations, account, id)
	}
	if err != nil && (id == 0 || fleet.CodeOf(err) == fleet.CodeNotFound) {
		return fleet.Invalid(fleet.NoSuch(pointer, "location", fleet.LocationPrefix, text))
	}
	return err
}
