package desk

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// place is where a hold lies: the calendar of a vehicle or of a class. The zero place is none.
type place struct{ vehicle, class uint64 }

// calendars are those that a place is in, and its id there.
func (d *Desk) calendars(p place) (*calendar.Calendars, uint64) {
	if p.vehicle != 0 {
		return d.Calendars, p.vehicle
	}
	return d.ClassCalendars, p.class
}

// holdOf is the hold that a booking wants, and where; nil if it wants none. That of a vehicle tells the buffer after the rental. A booking of
// a class without a vehicle holds a place in the class.
func holdOf(id uint64, b *record.Booking) (place, *calendar.Hold) {
	if !b.Holding() || b.BlockedFrom.IsZero() {
		return place{}, nil
	}
	h := periodOf(id, b)
	if b.Status == record.BookingPending {
		h.Expires = b.HoldExpiresAt
	}
	if vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID); err == nil {
		back := b.ReturnAt
		if b.Status == record.BookingCompleted && !b.ActualReturnAt.IsZero() && b.ActualReturnAt.Before(back.Time) {
			back = b.ActualReturnAt // of a late one it stays as planned: work that was planned in the buffer takes nothing of what is left of it
		}
		if back.Before(h.Until.Time) {
			h.Back = back
		}
		return place{vehicle: vehicle}, h
	}
	if class, err := fleet.ParseID(fleet.ClassPrefix, b.VehicleClassID); err == nil {
		return place{class: class}, h
	}
	return place{}, nil
}

// periodOf is the hold of a booking, in whichever calendar: when, from which location and to which.
func periodOf(id uint64, b *record.Booking) *calendar.Hold {
	h := &calendar.Hold{Ref: fleet.FormatID(fleet.BookingPrefix, id), From: b.BlockedFrom, Until: b.BlockedUntil, Conflict: b.Conflict,
		Open: b.Status == record.BookingActive && !b.Bygone(), Ends: cmp.Or(b.ReturnLocationID, b.PickupLocationID)}
	if !b.Elsewhere {
		h.Begins = b.PickupLocationID
	}
	return h
}

// bookingWants says whether a booking wants a hold: whether its newest revision says just that period in that calendar.
func (d *Desk) bookingWants(ctx context.Context, account fleet.AccountID, id uint64, at place, h calendar.Hold) (bool, error) {
	r, err := d.Bookings.Get(ctx, account, id)
	if err != nil {
		return false, err
	}
	where, want := holdOf(id, &r.Body)
	if where != at {
		return false, nil
	}
	return standing(&h, r.Revision, want, func() error { return d.settleBooking(ctx, record.System, account, id, at) })
}

// bid is a hold that was taken for a revision of a booking that is not written yet.
type bid struct {
	at    place
	hold  calendar.Hold
	until time.Time // when the revision must be written, or never: the hold counts as abandoned soon after

	beside []calendar.Hold // all that the calendar of its vehicle had when it was placed, its own holder's too
}

// deadline is when a revision must be written that stands upon a bid, nil for none.
func (d *Desk) deadline(b *bid) time.Time {
	if b == nil {
		return time.Now().Add(d.writeWithin)
	}
	return b.until
}

// grip is how hard a command takes what it needs.
type grip int

const (
	ask   grip = iota // and be refused for whatever is in the way
	keep              // the vehicle is the booking's already: a class that runs short is no reason, nor others that have it as well, but for more time
	seize             // whatever is in the way, but for a vehicle that somebody has driven off with; it is flagged as a conflict
)

// capacityTries is how often a place in a class is asked for: of two that see each other in the middle of it both are refused.
const capacityTries = 3

// takeFor takes what the next revision of a booking holds, beside what the present one has. A *calendar.ConflictError or a
// *fleet.Error of the code fleet.CodeConflict says what is in the way, and then nothing was taken. The second result says whether it overlaps. s is
// what the caller has seen a moment ago.
func (d *Desk) takeFor(ctx context.Context, by record.Author, account fleet.AccountID, id, revision uint64, was, next *record.Booking, g grip, s sight) (*bid, bool, error) {
	at, want := holdOf(id, next)
	if want == nil {
		return nil, false, nil
	}
	before, had := place{}, (*calendar.Hold)(nil)
	if was != nil {
		before, had = holdOf(id, was)
	}
	if had != nil && before == at && covers(had, want, d.Now()) && (g != ask || had.SamePlaces(want)) {
		return nil, next.Conflict, nil
	}
	var gives *calendar.Bid // what the booking has now and gives up with this
	if had != nil {
		gives = &calendar.Bid{Vehicle: before.vehicle, Hold: *had}
	}
	leaves := uint64(0)
	if had != nil && before.vehicle == 0 && covers(had, want, d.Now()) && had.SamePlaces(want) {
		leaves = before.class
	}
	likely, _ := fleet.ParseID(fleet.ClassPrefix, next.VehicleClassID)
	for try := 1; ; try++ {
		b := &bid{at: at, hold: *want, until: time.Now().Add(d.writeWithin)}
		b.hold.Rev, b.hold.Bid, b.hold.Conflict = revision, record.RandomID(), false
		shares := had
		if g != keep || before != at || !was.Conflict {
			shares = nil
		}
		err := d.place(ctx, by, account, b, next.VehicleID, g == seize, shares, s.calendar)
		if err != nil {
			return nil, false, err
		}
		s.calendar = nil // which is another one now
		if g != ask {
			return b, b.hold.Conflict, nil
		}
		if err = d.capacity(ctx, by, account, b, gives, leaves, likely, s); err == nil {
			return b, false, nil
		}
		d.withdraw(ctx, by, account, b)
		if _, wrong := errors.AsType[*ElsewhereError](err); wrong || fleet.CodeOf(err) != fleet.CodeConflict || try == capacityTries {
			return nil, false, err
		}
		select {
		case <-ctx.Done():
			return nil, false, err
		case <-time.After(rand.N(time.Duration(try) * 40 * time.Millisecond)):
		}
	}
}

// place writes a bid into its calendar. force takes it whatever is in the way; shares, if not nil, is what the holder has together with
// others already, so that only the rest must be free. A vehicle that somebody has driven off with is in the way in any case.
func (d *Desk) place(ctx context.Context, by record.Author, account fleet.AccountID, b *bid, vehicle string, force bool, shares *calendar.Hold, seen *record.Seen) error {
	cals, key := d.calendars(b.at)
	all, err := cals.TakeSeen(ctx, seen, by, account, key, b.hold)
	if _, taken := errors.AsType[*calendar.ConflictError](err); taken && (force || shares != nil) {
		b.hold.Conflict = true
		all, err = cals.Take(ctx, by, account, key, b.hold)
	}
	if err != nil {
		if undecided(err) {
			d.withdraw(ctx, by, account, b)
		}
		return err
	}
	now := d.Now()
	b.beside = all.Standing(now)
	for _, o := range all.Beside(&b.hold, now) {
		if b.at.vehicle == 0 || !(o.Open && b.hold.Open) && (shares == nil || !beyond(&b.hold, shares, &o)) {
			continue
		}
		if abandoned, err := cals.Abandoned(ctx, account, key, o); err == nil && abandoned {
			continue // whoever died left it
		}
		d.withdraw(ctx, by, account, b)
		return &calendar.ConflictError{Vehicle: vehicle, Hold: o}
	}
	return nil
}

// beyond says whether another hold is in the time that a bid takes beyond what its holder has.
func beyond(bid, had, other *calendar.Hold) bool {
	return bid.From.Before(had.From.Time) && other.Overlaps(bid.From.Time, had.From.Time) ||
		had.Until.Before(bid.Until.Time) && other.Overlaps(had.Until.Time, bid.Until.Time)
}

// covers says whether a hold that stands is enough for another one of the same booking.
func covers(had, want *calendar.Hold, now time.Time) bool {
	return !had.Lapsed(now) && (had.Expires.IsZero() || had.Expires.Equal(want.Expires.Time)) && (had.Open || !want.Open) && within(want, had) &&
		(had.Back.IsZero() || !want.Back.IsZero() && !had.Back.Before(want.Back.Time))
}

// within says whether a hold takes no time that another, which may be nil, does not have.
func within(want, had *calendar.Hold) bool {
	return had != nil && !want.From.Before(had.From.Time) && !had.Until.Before(want.Until.Time)
}

// withdraw gives a bid back that came to nothing. It must not fail because the caller's time is up; if it does all the same, the
// bid counts as abandoned after a while.
func (d *Desk) withdraw(ctx context.Context, by record.Author, account fleet.AccountID, b *bid) {
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	cals, key := d.calendars(b.at)
	if err := cals.Withdraw(ctx, by, account, key, b.hold); err != nil {
		d.Log.WarnContext(ctx, "a bid was not withdrawn and lapses by itself", "booking", b.hold.Ref, "error", err)
	}
}

// undecided says whether an error leaves open if the write happened: then a bid must stay, for the revision may stand.
func undecided(err error) bool {
	return fleet.CodeOf(err) == fleet.CodeUnavailable || fleet.CodeOf(err) == "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// settleCalendars makes the calendars that a revision of a booking touches say what the booking says by now. It is a consequence
// of the revision: whoever dies, it is done at last.
func (d *Desk) settleCalendars(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Booking](w)
	if err != nil || before == nil {
		return err // the first revision stands upon the very hold that was taken for it
	}
	left, had := holdOf(w.ID, before)
	at, want := holdOf(w.ID, after)
	if had != nil && want != nil && left == at && had.From == want.From && had.Until == want.Until && had.Expires == want.Expires &&
		had.Open == want.Open && had.Conflict == want.Conflict && had.Back == want.Back && had.SamePlaces(want) {
		return nil
	}
	places := []place{left}
	if at != left {
		places = append(places, at)
	}
	for _, p := range places {
		if p == (place{}) {
			continue
		}
		if err := d.settleBooking(ctx, record.Author{Actor: w.Actor, RequestID: w.RequestID}, w.Account, w.ID, p); err != nil {
			return err
		}
	}
	return nil
}

// settleBooking makes one calendar say what a booking says by now.
func (d *Desk) settleBooking(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, p place) error {
	cals, key := d.calendars(p)
	return cals.Settle(ctx, by, account, key, fleet.FormatID(fleet.BookingPrefix, id), func(ctx context.Context) (uint64, *calendar.Hold, error) {
		r, err := d.Bookings.Get(ctx, account, id)
		if err != nil {
			return 0, nil, err
		}
		where, hold := holdOf(id, &r.Body)
		if where != p {
			hold = nil
		}
		return r.Revision, hold, nil
	})
}

// forEver is when a retired or archived vehicle's hold on its own calendar ends.
var forEver = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
