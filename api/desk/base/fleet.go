package base

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Fleet is what is looked through to find what is free. The store answers (Stored), or a memory. What it returns may be
// shared, and must not be changed.
type Fleet interface {
	// Rentable returns the vehicles that can be rented, now or after what is being done to them: of some classes, by their
	// ids as text, or of any and of none if classes is nil.
	Rentable(ctx context.Context, account fleet.AccountID, classes []string) ([]*record.Record[record.Vehicle], error)
	// RecordsByID is query.RecordsByID.
	RecordsByID(ctx context.Context, l *query.Listing, account fleet.AccountID,
		ids []uint64) (map[uint64]query.Stored, error)
	// Busy returns what of all calendars ends after an instant, and has not lapsed at another.
	Busy(ctx context.Context, account fleet.AccountID, from, now time.Time) (Busy, error)
	// Recalled is Busy of what is in memory, as it stood a second ago at most; false if only the store can tell.
	Recalled(ctx context.Context, account fleet.AccountID, from, now time.Time) (Busy, bool)
}

// Busy finds what is held of a vehicle, and what was booked of a class without one.
type Busy struct {
	Vehicle, Class func(id uint64) calendar.Series
}

// CanBeRented says whether a vehicle may be rented, now or after what is being done to it, as rentable_vehicles.sql
// does.
func CanBeRented(v *record.Vehicle) bool {
	switch v.Status {
	case record.VehicleRetired, record.VehicleInactive, record.VehicleOutOfService:
		return false
	}
	return true
}

// Rentable reads the vehicles that CanBeRented.
func (s Stored) Rentable(ctx context.Context, account fleet.AccountID,
	classes []string) ([]*record.Record[record.Vehicle], error) {
	stored, err := query.RentableVehicles(ctx, s.DB, account, classes)
	if err != nil {
		return nil, err
	}
	all := make([]*record.Record[record.Vehicle], len(stored))
	for i := range stored {
		if all[i], err = Decoded[record.Vehicle](account, stored[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// RecordsByID is query.RecordsByID.
func (s Stored) RecordsByID(ctx context.Context, l *query.Listing, account fleet.AccountID,
	ids []uint64) (map[uint64]query.Stored, error) {
	return query.RecordsByID(ctx, s.DB, l, account, ids)
}

// Busy reads the calendars.
func (s Stored) Busy(ctx context.Context, account fleet.AccountID, from, now time.Time) (Busy, error) {
	vehicles, err := query.BusyVehicles(ctx, s.DB, account, 0, nil, from, calendar.ForEver, now)
	if err != nil {
		return Busy{}, err
	}
	classes, err := query.BookedClasses(ctx, s.DB, account, nil, from, calendar.ForEver, now)
	of := func(all map[uint64][]query.Hold) func(uint64) calendar.Series {
		return func(id uint64) calendar.Series { return calendar.NewSeries(HoldsFrom(all[id])) }
	}
	return Busy{Vehicle: of(vehicles), Class: of(classes)}, err
}

// Recalled finds nothing.
func (s Stored) Recalled(context.Context, fleet.AccountID, time.Time, time.Time) (Busy, bool) {
	return Busy{}, false
}

// HoldsFrom makes holds of those that the current table knows.
func HoldsFrom(busy []query.Hold) []calendar.Hold {
	all := make([]calendar.Hold, len(busy))
	for i, h := range busy {
		all[i] = calendar.Hold{Ref: h.Ref, From: record.InstantOf(h.From), Until: record.InstantOf(h.Until),
			Begins: h.Begins, Ends: h.Ends}
	}
	return all
}

// Decoded makes a record of a row of a current table.
func Decoded[T any](account fleet.AccountID, stored query.Stored) (*record.Record[T], error) {
	r := &record.Record[T]{Account: account, ID: stored.ID, Revision: stored.Revision, CreatedAt: stored.CreatedAt.UTC(),
		UpdatedAt: stored.UpdatedAt.UTC()}
	if err := json.Unmarshal([]byte(stored.Body), &r.Body); err != nil {
		return nil, fmt.Errorf("decode record %d: %w", stored.ID, err)
	}
	return r, nil
}
