package holding

import (
	"context"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// Say puts into the calendar of a vehicle that the next revision of a booking is to say that it had it for a time,
// beside whatever is there; it is withdrawn once that was written, or not. Of two bookings that say so of one time at
// once, the second sees what the first one has put there, and is refused with the code fleet.CodeStale until that is
// decided: so it finds, when it comes again, what the first has written.
func (d *Holds) Say(ctx context.Context, by record.Author, account fleet.AccountID, id, revision, vehicle uint64,
	from, until time.Time) (*Bid, error) {
	b := &Bid{At: Place{Vehicle: vehicle}, Hold: calendar.Hold{Ref: fleet.FormatID(fleet.BookingPrefix, id),
		From: record.InstantOf(from), Until: record.InstantOf(until), Rev: revision, Bid: record.RandomID(), Conflict: true}}
	all, err := d.Calendars.Take(ctx, by, account, vehicle, b.Hold)
	if err != nil {
		return b, err
	}
	for _, o := range all.Beside(&b.Hold, d.Now()) {
		if decided, err := d.decided(ctx, account, vehicle, &o); err != nil || !decided {
			if err == nil {
				err = fleet.NewError(fleet.CodeStale, "What "+o.Ref+" has of the vehicle changes at this moment. Try again.")
			}
			return b, err
		}
	}
	return b, nil
}

// decided says whether the revision stands that a hold is for, or another one in its place, or never will.
func (d *Holds) decided(ctx context.Context, account fleet.AccountID, vehicle uint64, h *calendar.Hold) (bool, error) {
	id, err := fleet.ParseID(fleet.BookingPrefix, h.Ref)
	if err != nil || h.Bid == 0 {
		return true, nil
	}
	r, err := d.Bookings.Get(ctx, account, id)
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound || err == nil && r.Revision >= h.Rev {
		return err == nil, err
	}
	return d.Calendars.Abandoned(ctx, account, vehicle, *h)
}

// Unsay withdraws what was put into calendars for a command that has ended with an error, or nil. If that leaves open
// whether it has written, what it said stays until it counts as abandoned.
func (d *Holds) Unsay(ctx context.Context, by record.Author, account fleet.AccountID, said []*Bid, ended error) {
	if ended != nil && Undecided(ended) {
		return
	}
	for _, b := range slices.Backward(said) {
		d.Withdraw(ctx, by, account, b)
	}
}
