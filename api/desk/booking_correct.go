package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// Correction is what was noted wrongly when vehicles of a booking changed hands, as it ought to be. What is
// not given stays.
type Correction struct {
	Reason         string
	Pickup, Return *Handover
	Swaps          []SwapCorrection
	Confirm        []string // as Handover has it
}

// SwapCorrection corrects the swap of a vehicle during the rental.
type SwapCorrection struct {
	Place           int       // in the booking's VehicleSwaps
	At              time.Time // zero: it stays
	MileageMi       *int      // of the vehicle that was given back
	FuelPct         *float64  // likewise
	Battery         *int      // likewise
	PickupMileageMi *int      // of the one that was driven off with instead
	PickupFuelPct   *float64  // likewise
	PickupBattery   *int      // likewise
}

// Correct corrects the handovers of a booking that is out or was. What stood there before is kept in its
// Corrections. What follows is worked out anew: the price, of which the difference is posted; the readings of the
// vehicle's odometer; the time for which it holds its vehicle, as far as nobody else does. A correction that changes
// nothing is no revision.
func (d *Desk) Correct(ctx context.Context, o Order, c Correction) (record.Record[record.Booking], error) {
	var free window
	o.said = &saying{}
	for {
		var had window
		rec, err := d.command(ctx, o, rental.Correct, holding.Keep,
			func(ctx context.Context, next *record.Record[record.Booking]) error {
				had = window{next.Body.BlockedFrom.Time, next.Body.BlockedUntil.Time}
				return d.correct(ctx, o, next, c, free)
			})
		taken, ok := errors.AsType[*calendar.ConflictError](err)
		if !ok {
			return rec, err
		}
		// In the past somebody else holds the vehicle until it was taken, or from when it was back: that stays theirs.
		switch h := taken.Hold; {
		case free.from.IsZero() && !h.Until.After(had.from):
			free.from = h.Until.Time
		case free.until.IsZero() && !h.From.Before(had.until):
			free.until = h.From.Time
		default:
			return rec, err
		}
	}
}

// window is a time; zero ends are open.
type window struct{ from, until time.Time }

// correct makes the next revision of a booking of a correction.
func (d *Desk) correct(ctx context.Context, o Order, next *record.Record[record.Booking], c Correction,
	free window) error {
	b := &next.Body
	was := copyOf(*next)
	k := &correcting{d: d, o: o, b: b, was: &was.Body, confirmed: c.Confirm}
	if err := k.apply(ctx, &c); err != nil {
		return err
	}
	if k.changes == nil {
		*b = was.Body
		return nil
	}
	if err := k.check(ctx); err != nil {
		return err
	}
	if err := k.price(); err != nil {
		return err
	}
	if err := k.hold(ctx, free); err != nil {
		return err
	}
	b.Corrections = append(b.Corrections,
		record.Correction{At: record.InstantOf(d.Now()), Actor: o.By.Actor, Reason: c.Reason, Changes: k.changes})
	return nil
}

// correcting is a correction that is being worked out.
type correcting struct {
	d         *Desk
	o         Order
	b, was    *record.Booking // as it is to become, and as it was
	confirmed []string
	changes   []record.Corrected
	read      []readAgain
}

// readAgain is an odometer of which something else was read: that of a leg, when the vehicle was taken, or given back.
type readAgain struct {
	leg     int
	back    bool
	pointer string
}

// differs notes that something was corrected, unless it is what it was.
func differs[T comparable](k *correcting, handover, vehicle, what string, was, is *T) {
	if is == nil || was != nil && *was == *is {
		return
	}
	c := record.Corrected{Handover: handover, VehicleID: vehicle, What: what, Is: *is}
	if was != nil {
		c.Was = *was
	}
	k.changes = append(k.changes, c)
}

// moved notes that a handover took place at another time.
func (k *correcting) moved(handover, vehicle string, was, is record.Instant) {
	if !was.Equal(is.Time) {
		k.changes = append(k.changes, record.Corrected{Handover: handover, VehicleID: vehicle, What: "at", Was: was, Is: is})
	}
}

// apply writes what was given into the booking.
func (k *correcting) apply(ctx context.Context, c *Correction) error {
	if c.Pickup != nil {
		if err := k.pickup(ctx, *c.Pickup); err != nil {
			return err
		}
	}
	for i := range c.Swaps {
		if err := k.swap(ctx, &c.Swaps[i], fmt.Sprintf("/swaps/%d", i)); err != nil {
			return err
		}
	}
	if c.Return == nil {
		return nil
	}
	return k.back(ctx, *c.Return)
}

func (k *correcting) pickup(ctx context.Context, h Handover) error {
	h.in = "/pickup"
	h = h.seen()
	b, first := k.b, rental.Legs(k.b)[0]
	if err := k.fits(ctx, &h, first.VehicleID); err != nil {
		return err
	}
	if !h.At.IsZero() {
		at, err := h.at(k.d.Now())
		if err != nil {
			return err
		}
		if !at.Before(b.ReturnAt.Time) {
			return fault("/pickup/at", "is not before return_at")
		}
		k.moved("pickup", first.VehicleID, b.ActualPickupAt, record.InstantOf(at))
		b.ActualPickupAt = record.InstantOf(at)
		if i := slices.IndexFunc(b.VehicleSwaps, func(s record.VehicleSwap) bool { return !s.From.IsZero() }); i >= 0 {
			b.VehicleSwaps[i].From = b.ActualPickupAt
		}
	}
	k.mileage("pickup", 0, false, h.MileageMi, h.mileageIn)
	k.levels("pickup", 0, 0, h.FuelPct, h.Battery)
	k.inspection("pickup", first.VehicleID, &h, b.ActualPickupAt.Time)
	b.ImportedPickup = false
	return nil
}

func (k *correcting) swap(ctx context.Context, s *SwapCorrection, in string) error {
	b := k.b
	if s.Place < 0 || s.Place >= len(b.VehicleSwaps) || b.VehicleSwaps[s.Place].From.IsZero() {
		return fault(in+"/swap",
			"is no swap during the rental: it is the place in vehicle_history, from 0, of a vehicle that was driven off with")
	}
	leg := 0
	for _, other := range b.VehicleSwaps[:s.Place] {
		if !other.From.IsZero() {
			leg++
		}
	}
	given, instead := &b.VehicleSwaps[s.Place], rental.Legs(b)[leg+1].VehicleID
	if err := k.fits(ctx, &Handover{FuelPct: s.FuelPct, Battery: s.Battery, fuelIn: in + "/fuel_pct",
		batteryIn: in + "/battery_level"}, given.VehicleID); err != nil {
		return err
	}
	if err := k.fits(ctx, &Handover{FuelPct: s.PickupFuelPct, Battery: s.PickupBattery, fuelIn: in + "/pickup_fuel_pct",
		batteryIn: in + "/pickup_battery_level"}, instead); err != nil {
		return err
	}
	if !s.At.IsZero() {
		at, err := (&Handover{At: s.At, in: in}).at(k.d.Now())
		if err != nil {
			return err
		}
		k.moved("swap", given.VehicleID, given.Until, record.InstantOf(at))
		given.Until = record.InstantOf(at)
		for i := s.Place + 1; i < len(b.VehicleSwaps); i++ {
			if later := &b.VehicleSwaps[i]; !later.From.IsZero() {
				later.From = given.Until
				break
			}
		}
	}
	k.mileage("swap", leg, true, s.MileageMi, in+"/mileage_mi")
	k.levels("swap", leg, 1, s.FuelPct, s.Battery)
	k.mileage("swap", leg+1, false, s.PickupMileageMi, in+"/pickup_mileage_mi")
	k.levels("swap", leg+1, 0, s.PickupFuelPct, s.PickupBattery)
	return nil
}

func (k *correcting) back(ctx context.Context, h Handover) error {
	h.in = "/return"
	h = h.seen()
	b := k.b
	if b.Status != record.BookingCompleted {
		return fleet.NewError(fleet.CodeConflict,
			"The booking was not returned yet, so that there is no return to correct. Return it instead.")
	}
	if err := k.fits(ctx, &h, b.VehicleID); err != nil {
		return err
	}
	if !h.At.IsZero() {
		at, err := h.at(k.d.Now())
		if err != nil {
			return err
		}
		k.moved("return", b.VehicleID, b.ActualReturnAt, record.InstantOf(at))
		b.ActualReturnAt = record.InstantOf(at)
	}
	if err := k.brought(ctx, h.LocationID); err != nil {
		return err
	}
	k.mileage("return", len(rental.Legs(b))-1, true, h.MileageMi, h.mileageIn)
	k.levels("return", len(rental.Legs(b))-1, 1, h.FuelPct, h.Battery)
	k.inspection("return", b.VehicleID, &h, b.ActualReturnAt.Time)
	b.ImportedReturn = false
	return nil
}

// brought corrects where a vehicle was returned; "" leaves it. What that costs is as it was agreed.
func (k *correcting) brought(ctx context.Context, location string) error {
	b := k.b
	if location == "" || location == b.ReturnLocationID {
		return nil
	}
	if err := k.d.LocationExists(ctx, k.o.Account, "/return/return_location_id", location); err != nil {
		return err
	}
	was := &b.ReturnLocationID
	if *was == "" {
		was = nil
	}
	differs(k, "return", b.VehicleID, "return_location_id", was, &location)
	agreed := b.ReturnLocationID
	if b.AgreedReturnID != nil {
		agreed = *b.AgreedReturnID
	}
	b.ReturnLocationID, b.AgreedReturnID, b.ElsewhereFee = location, nil, nil
	if location == agreed {
		return nil
	}
	var err error
	b.AgreedReturnID = &agreed
	b.ElsewhereFee, err = k.d.feeElsewhere(ctx, k.o.Account, b, location)
	return err
}

// fits refuses the level of what a vehicle does not have.
func (k *correcting) fits(ctx context.Context, h *Handover, vehicle string) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		return err
	}
	v, err := k.d.Vehicles.Get(ctx, k.o.Account, id)
	if err != nil {
		return err
	}
	return h.fits(&v.Body)
}

// mileage corrects what was read off the odometer of the vehicle of a leg.
func (k *correcting) mileage(handover string, leg int, back bool, miles *int, pointer string) {
	l := rental.Legs(k.b)[leg]
	at := l.Taken
	if back {
		at = l.Back
	}
	n := len(k.changes)
	if differs(k, handover, l.VehicleID, "mileage_mi", *at, miles); len(k.changes) > n {
		*at = miles
		k.read = append(k.read, readAgain{leg, back, pointer})
	}
}

// levels corrects how full the vehicle of a leg was, at its beginning (0) or its end (1).
func (k *correcting) levels(handover string, leg, end int, fuel *float64, battery *int) {
	l := rental.Legs(k.b)[leg]
	differs(k, handover, l.VehicleID, "fuel_pct", *l.Fuel[end], fuel)
	differs(k, handover, l.VehicleID, "battery_level", *l.Battery[end], battery)
	if fuel != nil {
		*l.Fuel[end] = fuel
	}
	if battery != nil {
		*l.Battery[end] = battery
	}
}

// inspection adds an inspection in the place of those that there were of the handover.
func (k *correcting) inspection(kind, vehicle string, h *Handover, at time.Time) {
	if h.Inspection == nil {
		return
	}
	b, n := k.b, len(k.b.Inspections)
	k.d.inspected(b, kind, h, at)
	is := b.Inspections[n].ID
	var was *string
	for i := range b.Inspections[:n] {
		if old := &b.Inspections[i]; old.Type == kind && old.SupersededBy == "" {
			old.SupersededBy, was = is, &old.ID
		}
	}
	differs(k, kind, vehicle, "inspection_id", was, &is)
}
