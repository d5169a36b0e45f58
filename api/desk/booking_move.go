package desk

import (
	"context"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

// Confirm makes a pending booking stand: it looks again whether the vehicle is free, whether the customer may rent,
// whether the licence lasts, and whether the deposit is there where the account asks for it.
func (d *Desk) Confirm(ctx context.Context, o Order) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Confirm, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			settings, _, err := d.settings(ctx, o.Account)
			if err != nil {
				return err
			}
			if err := d.notPast(&next.Body.BookingFields); err != nil {
				return fleet.NewError(fleet.CodeConflict,
					"The pickup of the booking lies in the past. Move it, or PATCH the booking with backdated true if the rental is written down afterwards.")
			}
			if err := d.vehicleRentable(ctx, o.Account, &next.Body); err != nil {
				return err
			}
			return d.confirmable(ctx, o.Account, &next.Body, settings)
		})
}

// vehicleRentable refuses a booking whose vehicle is not for rent.
func (d *Desk) vehicleRentable(ctx context.Context, account fleet.AccountID, b *record.Booking) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return nil // none is assigned
	}
	v, err := base.Recall(ctx, d.Vehicles, account, id)
	if err != nil {
		return err
	}
	return d.rentable(ctx, account, &v, &b.BookingFields)
}

// Expire ends a pending booking whose hold has run out. One that has been confirmed meanwhile is refused.
func (d *Desk) Expire(ctx context.Context, o Order) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Expire, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			if b := &next.Body; d.Now().Before(b.HoldExpiresAt.Time) {
				return fleet.NewError(fleet.CodeConflict, "The hold of the booking has not run out.")
			}
			next.Body.Cancellation = &record.Cancellation{At: record.InstantOf(d.Now()), By: "system",
				ReasonCode: "hold_expired"}
			return d.undone(&next.Body, nil)
		})
}

// CancelRequest is how a booking is cancelled.
type CancelRequest struct {
	By         string // customer, host, operator or system; operator unless given
	ReasonCode string
	Note       string
	WaiveFee   bool
}

// Cancel ends a booking before it begins. What was charged for it is taken back, but for what somebody charged by hand,
// and the fee of the policy is charged, as of when it was cancelled: none for a booking that was not confirmed then, or
// that the host gave up, or that was written down afterwards, unless it is said that it was cancelled before its
// pickup.
func (d *Desk) Cancel(ctx context.Context, o Order, req CancelRequest) (record.Record[record.Booking], error) {
	if req.By == "" {
		req.By = "operator"
	}
	return d.command(ctx, o, rental.Cancel, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			at, err := o.takenPlace(d.Now(), next)
			if err != nil {
				return err
			}
			var fee *record.Charge
			stood := !b.ConfirmedAt.IsZero() && !at.Before(b.ConfirmedAt.Time)
			if b.Backdated { // it was confirmed whenever it was written down
				stood = !b.ConfirmedAt.IsZero() && at.Before(b.PickupAt.Time)
			}
			if stood && b.RateSnapshot != nil && req.By != "host" && !req.WaiveFee {
				c, err := price.CancelFee(b.RateSnapshot, b.PickupAt.Time, at)
				if err != nil {
					return err
				}
				fee = &c
			}
			b.HoldExpiresAt = record.Instant{}
			b.Cancellation = &record.Cancellation{At: record.InstantOf(at), By: req.By, ReasonCode: req.ReasonCode,
				Note: req.Note, Fee: amountOf(fee)}
			return d.undone(b, fee)
		})
}

func amountOf(c *record.Charge) *record.Money {
	if c == nil {
		return nil
	}
	amount := c.Amount
	return &amount
}

// NoShow ends a confirmed booking that nobody came for. It is refused before the time of pickup. What happens by itself
// has happened when nobody would come any more, whenever the server notes it.
func (d *Desk) NoShow(ctx context.Context, o Order, waiveFee bool) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.NoShow, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			b, now := &next.Body, d.Now()
			at, err := o.takenPlace(now, next)
			if err != nil {
				return err
			}
			if at.Before(b.PickupAt.Time) {
				return fleet.NewError(fleet.CodeConflict,
					"The pickup is at "+b.PickupAt.UTC().Format(time.RFC3339)+": nobody can have failed to come yet.")
			}
			if o.By == record.System && now.Before(b.NoShowAt()) {
				return fleet.NewError(fleet.CodeConflict, "Whoever booked may still come.")
			}
			if o.By == record.System {
				at = b.NoShowAt() // whenever somebody looks
			}
			var fee *record.Charge
			if b.RateSnapshot != nil && !waiveFee {
				c, err := price.NoShowFee(b.RateSnapshot)
				if err != nil {
					return err
				}
				fee = &c
			}
			b.HoldExpiresAt = record.Instant{}
			by := "operator"
			if o.By == record.System {
				by = "system"
			}
			b.Cancellation = &record.Cancellation{At: record.InstantOf(at), By: by, ReasonCode: "no_show", Fee: amountOf(fee)}
			return d.undone(b, fee)
		})
}

// reopenable is for how long a completed booking may be reopened.
const reopenable = 24 * time.Hour

// Reopen makes a completed booking active again, as if it had not been returned: for a day, and if nobody else has the
// vehicle. What the return charged is taken back.
func (d *Desk) Reopen(ctx context.Context, o Order) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Reopen, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			if d.Now().Sub(b.ActualReturnAt.Time) > reopenable {
				return &record.TransitionError{What: "booking " + name(o.Booking), Current: record.BookingCompleted,
					Wanted: string(rental.Reopen), Allowed: []string{}}
			}
			_, after, err := d.buffers(ctx, o.Account, b)
			if err != nil {
				return err
			}
			returned := func(id string) bool { return slices.Contains(b.ReturnCharges, id) }
			d.reverseAll(b, func(c *record.Charge) bool { return returned(c.ID) })
			if err := d.retax(b, returned); err != nil {
				return err
			}
			b.ReturnCharges = nil
			b.ActualReturnAt, b.ReturnMileageMi, b.ReturnFuelPct, b.ReturnBattery = record.Instant{}, nil, nil, nil
			b.ImportedReturn = false
			if b.AgreedReturnID != nil {
				b.ReturnLocationID, b.AgreedReturnID, b.ElsewhereFee = *b.AgreedReturnID, nil, nil
			}
			if until := b.ReturnAt.Add(after); b.BlockedUntil.Before(until) {
				b.BlockedUntil = record.InstantOf(until)
			}
			return nil
		})
}

// buffers are those of a booking's vehicle, or of its class.
func (d *Desk) buffers(ctx context.Context, account fleet.AccountID,
	b *record.Booking) (before, after time.Duration, err error) {
	minutes := func(v, class int) time.Duration {
		if v != 0 {
			class = v
		}
		return time.Duration(class) * time.Minute
	}
	var v record.VehicleFields
	if id, wrong := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID); wrong == nil {
		rec, err := base.Recall(ctx, d.Vehicles, account, id)
		if err != nil {
			return 0, 0, err
		}
		v = rec.Body.VehicleFields
	}
	var c record.VehicleClass
	if id, wrong := fleet.ParseID(fleet.ClassPrefix, b.VehicleClassID); wrong == nil {
		rec, err := base.Recall(ctx, d.Classes, account, id)
		if err != nil {
			return 0, 0, err
		}
		c = rec.Body
	}
	return minutes(v.BufferBeforeMinutes, c.BufferBeforeMinutes), minutes(v.BufferAfterMinutes, c.BufferAfterMinutes), nil
}
