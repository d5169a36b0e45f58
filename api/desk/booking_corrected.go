package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// check refuses what cannot have been: vehicles that were given back before they were taken, by the clock or by their
// odometers, or that somebody else had; and doubts odometers that are far from what is known of them.
func (k *correcting) check(ctx context.Context) error {
	legs, had := rental.Legs(k.b), rental.Legs(k.was)
	q := yard.Doubts{Confirmed: k.confirmed}
	for i, l := range legs {
		if !l.Until.IsZero() && l.Until.Before(l.From.Time) {
			return fault(k.timeIn(i), fmt.Sprintf("%s would be given back at %s, and was taken at %s", l.VehicleID,
				l.Until.Format(time.RFC3339), l.From.Format(time.RFC3339)))
		}
		if *l.Taken != nil && *l.Back != nil && **l.Back < **l.Taken {
			return fault(k.pointer(i),
				fmt.Sprintf("%s would come back with %d miles, and was taken with %d", l.VehicleID, **l.Back, **l.Taken))
		}
		if err := k.nobodyElse(ctx, l, had[i]); err != nil {
			return err
		}
	}
	own, err := k.ownReadings(ctx)
	if err != nil {
		return err
	}
	for _, r := range k.read {
		l := legs[r.leg]
		at, miles, beside := l.From.Time, *l.Taken, []rental.Reading(nil)
		if r.back {
			at, miles, beside = l.Until.Time, *l.Back, yard.TakenWith(l)
		}
		near, err := k.d.Yard.Near(ctx, k.o.Account, l.VehicleID, at, miles, own...)
		if err != nil {
			return err
		}
		q.Odometer(l.VehicleID, at, miles, r.pointer, near, beside...)
		if !r.back {
			*l.Meter = yard.Above(near, miles)
		}
	}
	return q.Err()
}

// timeIn points to the time of a leg that was given.
func (k *correcting) timeIn(leg int) string {
	legs, had := rental.Legs(k.b), rental.Legs(k.was)
	switch {
	case leg == 0 && !legs[0].From.Equal(had[0].From.Time):
		return "/pickup/at"
	case leg == len(legs)-1 && !legs[leg].Until.Equal(had[leg].Until.Time):
		return "/return/at"
	}
	return "/swaps"
}

// pointer is to the odometer of a leg that was given, if one was.
func (k *correcting) pointer(leg int) string {
	for _, r := range k.read {
		if r.leg == leg {
			return r.pointer
		}
	}
	return ""
}

// ownReadings are the ids of the readings that the booking told: what it tells now is not held against them.
func (k *correcting) ownReadings(ctx context.Context) ([]uint64, error) {
	if len(k.read) == 0 {
		return nil, nil
	}
	found, err := query.List(ctx, k.d.DB, &query.MeterReadings, query.ListRequest{Account: k.o.Account, Limit: 100,
		Filters: []query.Filter{{Field: "source_id", Op: "eq", Values: []string{name(k.o.Booking)}}}})
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, r := range found.Records {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// nobodyElse refuses to have had a vehicle for longer than was noted while another booking had it.
func (k *correcting) nobodyElse(ctx context.Context, l, had rental.Leg) error {
	until := func(at record.Instant) time.Time {
		if at.IsZero() {
			return k.d.Now()
		}
		return at.Time
	}
	if err := k.d.nobodyElse(ctx, k.o, l.VehicleID, l.From.Time, had.From.Time); err != nil {
		return err
	}
	return k.d.nobodyElse(ctx, k.o, l.VehicleID, until(had.Until), until(l.Until))
}

// nobodyElse refuses that a booking had a vehicle from one instant until another, if another booking had it then by
// what was noted at its handovers. A span that ends before it begins is none. The order's booking says so in the
// vehicle's calendar first: of two that are written at once, whichever looks second finds the other.
func (d *Desk) nobodyElse(ctx context.Context, o Order, vehicle string, from, until time.Time) error {
	if until.Sub(from) < time.Millisecond {
		return nil
	}
	v, err := d.VehicleOf(ctx, o.Account, vehicle)
	if err != nil || v == nil {
		return err
	}
	bid, err := d.Holds.Say(ctx, o.By, o.Account, o.Booking, o.said.revision, v.ID, from, until)
	o.said.bids = append(o.said.bids, bid)
	if err != nil {
		return err
	}
	if err := d.Store.MendNow(ctx, record.Bookings.Name); err != nil {
		return err
	}
	other, err := query.RentalWith(ctx, d.DB, o.Account, v.ID, o.Booking, from, until)
	if err != nil || other == nil {
		return err
	}
	ended := "and is out"
	if !other.Until.IsZero() {
		ended = "until " + other.Until.Format(time.RFC3339)
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("The vehicle %s was with booking %s from %s %s. Correct that one first, if it is wrong.",
			holding.Called(&v.Body), other.Number, other.From.Format(time.RFC3339), ended))
}

// price charges the difference that the correction makes: of an early pickup, and of what the return found.
func (k *correcting) price() error {
	b, d := k.b, k.d
	s := b.RateSnapshot
	if s == nil {
		return nil
	}
	if !b.ActualPickupAt.Equal(k.was.ActualPickupAt.Time) && s.Rate != nil {
		next, charges, err := price.PickedUpInstead(s, agreed(b), b.ActualPickupAt.Time, early(b))
		if err != nil {
			return err
		}
		b.PickupCharges = append(b.PickupCharges, d.lines(b, charges)...)
		b.RateSnapshot, b.BilledDays = &next, next.BilledDays
	}
	if b.Status != record.BookingCompleted {
		return d.retax(b, nil)
	}
	var had []record.Charge // and what took it back
	for _, c := range b.Charges {
		if slices.Contains(b.ReturnCharges, c.ID) || slices.Contains(b.ReturnCharges, c.ReversalOf) {
			had = append(had, c)
		}
	}
	charges, err := price.AtReturnInstead(b.RateSnapshot, agreed(b), cameBack(b), had)
	if err != nil {
		return err
	}
	b.ReturnCharges = append(b.ReturnCharges, d.lines(b, charges)...)
	return d.retax(b, nil)
}

// hold sets the time for which the booking holds its vehicle: as handing over sets it, and no more of it than is free.
func (k *correcting) hold(ctx context.Context, free window) error {
	b := k.b
	before, after, err := k.d.buffers(ctx, k.o.Account, b)
	if err != nil {
		return err
	}
	legs, had := rental.Legs(b), rental.Legs(k.was)
	last := len(legs) - 1
	if from := legs[last].From; !from.Equal(had[last].From.Time) {
		planned := b.PickupAt.Add(-before)
		switch {
		case last > 0 || from.Before(planned) || from.Before(b.BlockedFrom.Time):
			b.BlockedFrom = from
		case had[last].From.Before(planned): // and held it from then on for that alone
			b.BlockedFrom = record.InstantOf(planned)
		}
		if b.BlockedFrom.Before(free.from) {
			b.BlockedFrom = record.InstantOf(free.from)
		}
	}
	if until := legs[last].Until; !until.Equal(had[last].Until.Time) {
		b.BlockedUntil = record.InstantOf(until.Add(after))
		if !free.until.IsZero() && b.BlockedUntil.After(free.until) {
			b.BlockedUntil = record.InstantOf(free.until)
		}
	}
	if least := b.BlockedFrom.Add(time.Millisecond); b.BlockedUntil.Before(least) {
		b.BlockedUntil = record.InstantOf(least)
	}
	return nil
}
