package desk

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// bookingDuties registers what time does to bookings. Each decision is compare-and-set upon what the booking says by
// then, so that any number of processes may find the same ones due.
func (d *Desk) bookingDuties() {
	d.AddDuty("bookings: holds lapse", 15*time.Second, func(ctx context.Context) error {
		return d.eachDue(ctx, query.BookingsLapsed, func(ctx context.Context, o Order) error {
			_, err := d.Expire(ctx, o)
			return err
		})
	})
	d.AddDuty("bookings: nobody came", 30*time.Second, func(ctx context.Context) error {
		return d.eachDue(ctx, query.BookingsNotPickedUp, func(ctx context.Context, o Order) error {
			_, err := d.NoShow(ctx, o, false)
			return err
		})
	})
	d.AddDuty("bookings: overdue", 15*time.Second, func(ctx context.Context) error {
		return d.eachDue(ctx, query.BookingsOverdue, d.noteOverdue)
	})
	d.AddDuty("bookings: deposits lapse", time.Minute, func(ctx context.Context) error {
		return d.eachDue(ctx, query.BookingsDepositLapsed, func(ctx context.Context, o Order) error {
			_, err := d.SetDeposit(ctx, o, rental.DepositOrder{Action: rental.Lapse})
			return err
		})
	})
	d.AddDuty("bookings: overlaps", 5*time.Minute, d.auditOverlaps)
}

// eachDue does something with each booking that is due, page by page: those that fail keep none of the others from
// their turn. What a booking's state refuses has been done by somebody else.
func (d *Desk) eachDue(ctx context.Context, due query.DueBookings, do func(context.Context, Order) error) error {
	var after *query.DueBooking
	now := d.Now()
	return base.EachPage(ctx, d.DuePage, func() ([]query.DueBooking, error) {
		return query.BookingsDue(ctx, d.DB, due, now, after, d.DuePage)
	}, func(b query.DueBooking) error {
		after = &b
		err := do(ctx, Order{By: record.System, Account: b.Account, Booking: b.ID})
		if code := fleet.CodeOf(err); code == fleet.CodeTransition || code == fleet.CodeConflict {
			return nil
		}
		return err
	})
}

// noteOverdue notes once that a rental should be back: the revision is what events and alerts follow from. Whoever
// writes down a rental that is over has a while for its return.
func (d *Desk) noteOverdue(ctx context.Context, o Order) error {
	now := d.Now()
	_, err := d.Bookings.Update(ctx, o.By, o.Account, o.Booking, 0, func(r *record.Record[record.Booking]) error {
		b := &r.Body
		if b.Bygone() && now.Before(b.StatusSince.Add(past)) {
			return nil
		}
		if b.Status == record.BookingActive && b.OverdueNotedAt.IsZero() && b.ReturnAt.Before(now) {
			b.OverdueNotedAt = record.InstantOf(now)
		}
		return nil
	})
	return err
}

// auditOverlaps looks for what must not be: bookings that have one vehicle at the same time. Imported ones may, and a
// rental that is overdue runs into the next one. Whatever is found is flagged, and flags are taken back from what
// overlaps no more. The tables only say where to look, for after a crash they may be behind: the calendars decide.
func (d *Desk) auditOverlaps(ctx context.Context) error {
	var after query.AccountBooking
	now := d.Now()
	return base.EachPage(ctx, d.DuePage, func() ([]query.BookingConflict, error) {
		return query.BookingConflicts(ctx, d.DB, now, after, d.DuePage)
	}, func(c query.BookingConflict) error {
		after = c.AccountBooking
		if c.Overlaps { // a calendar that has lost a hold gets it back
			err := d.Holds.SettleBooking(ctx, record.System, c.Account, c.ID, holding.Place{Vehicle: uint64(c.Vehicle)})
			if err != nil {
				return err
			}
		}
		_, err := d.Bookings.Update(ctx, record.System, c.Account, c.ID, 0, func(r *record.Record[record.Booking]) error {
			overlaps, err := d.overlaps(ctx, r)
			if err == nil && overlaps == c.Overlaps {
				r.Body.Conflict = overlaps
			}
			return err
		})
		if fleet.CodeOf(err) == fleet.CodeConflict {
			return nil
		}
		return err
	})
}

// overlaps says whether the calendar of a booking's vehicle has it beside another hold.
func (d *Desk) overlaps(ctx context.Context, r *record.Record[record.Booking]) (bool, error) {
	at, hold := holding.BookingHold(r.ID, &r.Body)
	if hold == nil || at.Vehicle == 0 {
		return false, nil
	}
	holds, err := d.Calendars.Of(ctx, r.Account, at.Vehicle)
	if err != nil {
		return false, err
	}
	now := d.Now()
	all, lasting := calendar.Calendar{Holds: holds}, hold.Lasting(now)
	for _, o := range all.Beside(&lasting, now) {
		if abandoned, err := d.Calendars.Abandoned(ctx, r.Account, at.Vehicle, o); err != nil || !abandoned {
			return err == nil, err
		}
	}
	return false, nil
}
