package desk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// A booking's commands go in this order: read the booking; work out what it is to become; take in the calendars what
// that holds beside what it has; write it upon the revision that was read. Whoever loses the write gives back what it
// took and begins anew. The calendars are put in order by what follows from the written revision (holding.Holds).

// Order names the booking that a command is about, and who gives it.
type Order struct {
	By      record.Author
	Account fleet.AccountID
	Booking uint64
	If      func(revision uint64) error // refuses revisions that the caller does not mean; nil for any
	At      time.Time                   // when it took place, if that is said of what has no other place for it

	said    *saying // of commands that say who had a vehicle in the past
	decided bool    // it follows from what was decided, and is done also where a discount loses what it was given on
}

// saying is what a command has put into calendars to say who had a vehicle, for the revision that it means to write.
type saying struct {
	revision uint64
	bids     []*holding.Bid
}

// change is what a command makes of a booking. It gets a copy of the newest revision, whose state is the new one
// already, and may run several times.
type change func(ctx context.Context, next *record.Record[record.Booking]) error

// command carries out an action on a booking.
func (d *Desk) command(ctx context.Context, o Order, action rental.Action, g holding.Force,
	mutate change) (record.Record[record.Booking], error) {
	begun := time.Now()
	for lost := 1; ; lost++ {
		rec, err := d.attempt(ctx, o, action, g, mutate)
		if o.said != nil {
			d.Holds.Unsay(ctx, o.By, o.Account, o.said.bids, err)
			o.said.bids = nil
		}
		if refused, theirs := errors.AsType[refusedRevision](err); theirs {
			return d.Bookings.AlreadyDone(ctx, refused.error, o.By, o.Account, o.Booking)
		}
		if err == nil {
			return rec, nil
		}
		if fleet.CodeOf(err) != fleet.CodeStale || time.Since(begun) > d.MayRun {
			return d.Bookings.AlreadyDone(ctx, err, o.By, o.Account, o.Booking)
		}
		select {
		case <-ctx.Done():
			return rec, err
		case <-time.After(rand.N(time.Duration(lost) * 20 * time.Millisecond)):
		}
	}
}

// refusedRevision is an error of Order.If: the caller's, and no reason to try again.
type refusedRevision struct{ error }

func (e refusedRevision) Unwrap() error { return e.error }

// attempt carries an action out upon the newest revision, once.
func (d *Desk) attempt(ctx context.Context, o Order, action rental.Action, g holding.Force,
	mutate change) (record.Record[record.Booking], error) {
	var none record.Record[record.Booking]
	rec, err := d.Bookings.Get(ctx, o.Account, o.Booking)
	if err != nil {
		return none, err
	}
	if o.If != nil {
		if err := o.If(rec.Revision); err != nil {
			return none, refusedRevision{err}
		}
	}
	if rec.Archived() {
		return none, fleet.NewError(fleet.CodeConflict, "The booking "+name(o.Booking)+" is archived and cannot be changed.")
	}
	if action != rental.Expire && lapsed(&rec.Body, d.Now()) {
		// Nobody has come to expire it yet; it is done here, so that what is refused is refused for what it is.
		_, err := d.Expire(ctx, Order{By: record.System, Account: o.Account, Booking: o.Booking})
		if err != nil && fleet.CodeOf(err) != fleet.CodeTransition {
			return none, err
		}
		if rec, err = d.Bookings.Get(ctx, o.Account, o.Booking); err != nil {
			return none, err
		}
	}
	to, err := rental.Next(rec.ID, rec.Body.Status, action)
	if err != nil {
		return none, err
	}
	next := copyOf(rec)
	if o.said != nil {
		o.said.revision = rec.Revision + 1
	}
	if next.Body.Status != to {
		next.Body.Status, next.Body.StatusSince = to, record.InstantOf(d.Now())
	}
	inner, s := ctx, holding.AlreadyRead{}
	if slices.Contains(looksUp, action) {
		var m *base.Memory
		if m, s, err = d.seeNamed(ctx, &rec); err != nil {
			return none, err
		}
		inner = m.In(ctx)
	}
	if err := mutate(inner, &next); err != nil {
		return none, err
	}
	if action != rental.Return && !o.decided { // a vehicle that is back is back
		if err := discountsFit(rec.Body.Charges, next.Body.Charges); err != nil {
			return none, err
		}
	}
	return d.write(ctx, o, &rec, &next, g, s)
}

// looksUp are the actions that go by what the booking names: its vehicle, its people, its places.
var looksUp = []rental.Action{rental.Confirm, rental.Pickup, rental.Return, rental.Reopen, rental.Change, rental.Extend,
	rental.Swap, rental.Assign}

// seeNamed reads at once what a command on a booking may need: the records that it names, and the calendar
// that it is in.
func (d *Desk) seeNamed(ctx context.Context,
	rec *record.Record[record.Booking]) (*base.Memory, holding.AlreadyRead, error) {
	m := base.NewMemory()
	var s holding.AlreadyRead
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		m.Seen, err = d.Store.See(inner, rec.Account, d.Refs(rec.Account, &rec.Body.BookingFields)...)
		return err
	})
	if at, had := holding.BookingHold(rec.ID, &rec.Body); had != nil {
		group.Go(func() (err error) {
			cals, key := d.Holds.CalendarOf(at)
			s.Calendar, err = cals.Look(inner, rec.Account, key, false)
			return err
		})
	}
	return m, s, group.Wait()
}

// write writes the next revision of a booking upon the one that it was made of, with the hold that it needs; s is what
// was seen a moment ago.
func (d *Desk) write(ctx context.Context, o Order, rec, next *record.Record[record.Booking], g holding.Force,
	s holding.AlreadyRead) (record.Record[record.Booking], error) {
	taken, overlaps, err := d.Holds.TakeFor(ctx, o.By, o.Account, rec.ID, rec.Revision+1, &rec.Body, &next.Body, g, s)
	if err != nil {
		return record.Record[record.Booking]{}, err
	}
	if taken != nil || !next.Body.Holding() {
		next.Body.Conflict = overlaps
	}
	inner, cancel := context.WithDeadline(ctx, d.Holds.Deadline(taken))
	defer cancel()
	written, err := d.Bookings.Update(inner, o.By, o.Account, rec.ID, rec.Revision,
		func(r *record.Record[record.Booking]) error {
			r.Body = next.Body
			return nil
		})
	if err != nil && !holding.Undecided(err) {
		d.Holds.Withdraw(ctx, o.By, o.Account, taken)
	}
	return written, err
}

// copyOf returns a record that shares nothing with another.
func copyOf(rec record.Record[record.Booking]) record.Record[record.Booking] {
	rec.Body = record.Copied(rec.Body)
	return rec
}

// name writes the id of a booking.
func name(id uint64) string { return fleet.FormatID(fleet.BookingPrefix, id) }

// lapsed says whether a booking's hold has run out.
func lapsed(b *record.Booking, now time.Time) bool {
	return b.Status == record.BookingPending && !b.HoldExpiresAt.IsZero() && !now.Before(b.HoldExpiresAt.Time)
}

// settings are how the account handles bookings, complete.
func (d *Desk) settings(ctx context.Context, account fleet.AccountID) (record.BookingSettings, string, error) {
	rec, err := base.Recall(ctx, d.Accounts, account, uint64(account))
	if err != nil {
		return record.BookingSettings{}, "", fmt.Errorf("read settings of bookings: %w", err)
	}
	s := record.BookingSettings{}
	if rec.Body.Bookings != nil {
		s = *rec.Body.Bookings
	}
	if s.HoldMinutes == 0 {
		s.HoldMinutes = 30
	}
	if s.QuoteDays == 0 {
		s.QuoteDays = 7
	}
	if s.DepositDue == "" {
		s.DepositDue = "never"
	}
	if s.DoNotRent == "" {
		s.DoNotRent = record.DoNotRentBlock
	}
	return s, rec.Body.Currency, nil
}
