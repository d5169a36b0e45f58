// Package calendar keeps vehicles from being rented twice. A vehicle's calendar is one record (kind "calendar", under the
// vehicle's id) that lists its holds: bookings, blocks and work orders, each with a half-open period. Taking a hold is a
// compare-and-set of that record, so of two that overlap exactly one gets it, from any number of processes, without a lock.
//
//	take(hold) ──calendar written──► held ──its booking written──► stands
//	                                  └── its booking never was: abandoned, and given up by whoever it is in the way of
//
// The calendar decides who holds; the record that took the hold (the holder) says why. A process may die between the two,
// so a hold that stands in somebody's way and is older than Abandoned is looked up: one whose holder does not want it is dropped.
// Holds that ended more than Kept ago are dropped when the calendar is written next.
package calendar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Hold is a period during which a holder has the vehicle.
type Hold struct {
	Ref   string         `json:"ref"`   // the holder: an id of a booking, a block or a work order
	From  record.Instant `json:"from"`  //
	Until record.Instant `json:"until"` // the first moment that is free again
	At    record.Instant `json:"at"`    // when it was taken or changed last
	// Conflict says that it may overlap others: it was imported from a channel that had sold the vehicle twice.
	Conflict bool `json:"conflict,omitempty"`
	// Expires is when a pending hold lapses by itself; zero for never.
	Expires record.Instant `json:"expires,omitzero"`
}

// Overlaps says whether two half-open periods share a moment.
func (h *Hold) Overlaps(from, until time.Time) bool {
	return h.From.Before(until) && from.Before(h.Until.Time)
}

// Calendar is what is stored of one vehicle.
type Calendar struct {
	Holds []Hold `json:"holds"` // by From
}

// Kind describes the records.
var Kind = record.Kind[Calendar]{Name: "calendar", Prefix: fleet.VehiclePrefix}

// Conflict returns the first hold in the way of a period, or nil. The holder's own does not count, nor what has lapsed.
func (c *Calendar) Conflict(ref string, from, until, now time.Time) *Hold {
	for i := range c.Holds {
		h := &c.Holds[i]
		if h.Ref != ref && h.Overlaps(from, until) && (h.Expires.IsZero() || now.Before(h.Expires.Time)) {
			return h
		}
	}
	return nil
}

// ConflictError says that a vehicle is taken. It unwraps to a *fleet.Error of the code fleet.CodeConflict.
type ConflictError struct {
	Vehicle string
	Hold    Hold // that is in the way
}

func (e *ConflictError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *ConflictError) Unwrap() error {
	return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The vehicle %s is taken by %s from %s until %s.",
		e.Vehicle, e.Hold.Ref, e.Hold.From.Format(time.RFC3339), e.Hold.Until.Format(time.RFC3339)))
}

// Config are the times that calendars go by.
type Config struct {
	Abandoned time.Duration // age of a hold at which its holder is asked whether it wants it; above any write's deadline
	Kept      time.Duration // after its end
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{Abandoned: 20 * time.Second, Kept: 400 * 24 * time.Hour}
}

// Wanted says whether the record behind a hold wants it: whether a booking, block or work order stands that holds this vehicle
// in this period.
type Wanted func(ctx context.Context, account fleet.AccountID, vehicle uint64, h Hold) (bool, error)

// Calendars are those of all vehicles. It is safe for concurrent use.
type Calendars struct {
	cfg    Config
	log    *record.Log[Calendar]
	wanted Wanted
	now    func() time.Time
}

// New returns the calendars in a store.
func New(cfg Config, store *record.Store, wanted Wanted, now func() time.Time) *Calendars {
	return &Calendars{cfg: cfg, log: record.NewLog(store, Kind), wanted: wanted, now: now}
}

// Of returns the holds of a vehicle, none if it never had any.
func (c *Calendars) Of(ctx context.Context, account fleet.AccountID, vehicle uint64) ([]Hold, error) {
	r, err := c.log.Get(ctx, account, vehicle)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil, nil
	}
	return r.Body.Holds, err
}

// Take gives a vehicle to a holder for a period, in the place of what the holder had of it. A *ConflictError names the hold that is
// in the way; h.Conflict takes it all the same, and then the second result is true if it overlaps. What it returns is decided: after
// another error it is open whether the hold stands, and the next Take or Give of the holder settles it.
func (c *Calendars) Take(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64, h Hold) (overlaps bool, err error) {
	if !h.From.Before(h.Until.Time) {
		return false, fleet.NewError(fleet.CodeValidation, "A period must end after it begins.")
	}
	lapsed := map[string]bool{} // refs of holds that nobody wants
	for {
		var conflict *Hold
		err := c.change(ctx, by, account, vehicle, func(cal *Calendar) error {
			now := c.now()
			cal.Holds = slices.DeleteFunc(cal.Holds, func(o Hold) bool {
				return o.Ref == h.Ref || lapsed[o.Ref] || !o.Expires.IsZero() && !now.Before(o.Expires.Time) || now.Sub(o.Until.Time) > c.cfg.Kept
			})
			if conflict = cal.Conflict(h.Ref, h.From.Time, h.Until.Time, now); conflict != nil && !h.Conflict {
				found := *conflict
				return &ConflictError{Vehicle: fleet.FormatID(fleet.VehiclePrefix, vehicle), Hold: found}
			}
			h.At = record.InstantOf(now)
			cal.insert(h)
			return nil
		})
		taken, ok := errors.AsType[*ConflictError](err)
		if !ok {
			return conflict != nil, err
		}
		if lapsed[taken.Hold.Ref] || c.now().Sub(taken.Hold.At.Time) < c.cfg.Abandoned {
			return false, err
		}
		wanted, asked := c.wanted(ctx, account, vehicle, taken.Hold)
		if asked != nil || wanted {
			return false, err
		}
		lapsed[taken.Hold.Ref] = true
	}
}

// Give gives a vehicle up. Giving up what one does not hold is harmless.
func (c *Calendars) Give(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64, ref string) error {
	err := c.change(ctx, by, account, vehicle, func(cal *Calendar) error {
		cal.Holds = slices.DeleteFunc(cal.Holds, func(o Hold) bool { return o.Ref == ref })
		return nil
	})
	return err
}

// insert puts a hold in its place.
func (c *Calendar) insert(h Hold) {
	at, _ := slices.BinarySearchFunc(c.Holds, h, func(a, b Hold) int {
		if d := a.From.Compare(b.From.Time); d != 0 {
			return d
		}
		return strings.Compare(a.Ref, b.Ref)
	})
	c.Holds = slices.Insert(c.Holds, at, h)
}

// change writes a vehicle's calendar, the first one if there is none.
func (c *Calendars) change(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64, mutate func(*Calendar) error) error {
	update := func() error {
		_, err := c.log.Update(ctx, by, account, vehicle, 0, func(r *record.Record[Calendar]) error { return mutate(&r.Body) })
		return err
	}
	err := update()
	if fleet.CodeOf(err) != fleet.CodeNotFound {
		return err
	}
	if _, _, err := c.log.Create(ctx, by, account, vehicle, Calendar{Holds: []Hold{}}); err != nil {
		return err
	}
	return update()
}
