package holding

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

// Place is where a hold lies: the calendar of a vehicle or of a class. The zero place is none.
type Place struct{ Vehicle, Class uint64 }

// CalendarOf are those that a place is in, and its id there.
func (d *Holds) CalendarOf(p Place) (*calendar.Calendars, uint64) {
	if p.Vehicle != 0 {
		return d.Calendars, p.Vehicle
	}
	return d.ClassCalendars, p.Class
}

// BookingHold is the hold that a booking wants, and where; nil if it wants none. That of a vehicle tells the buffer
// after the rental. A booking of a class without a vehicle holds a place in the class.
func BookingHold(id uint64, b *record.Booking) (Place, *calendar.Hold) {
	if !b.Holding() || b.BlockedFrom.IsZero() {
		return Place{}, nil
	}
	h := PeriodOf(id, b)
	if b.Status == record.BookingPending {
		h.Expires = b.HoldExpiresAt
	}
	if vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID); err == nil {
		back := b.ReturnAt
		if b.Status == record.BookingCompleted && !b.ActualReturnAt.IsZero() && b.ActualReturnAt.Before(back.Time) {
			// of a late one it stays as planned: work that was planned in the buffer takes nothing of what is left of it
			back = b.ActualReturnAt
		}
		if back.Before(h.Until.Time) {
			h.Back = back
		}
		return Place{Vehicle: vehicle}, h
	}
	if class, err := fleet.ParseID(fleet.ClassPrefix, b.VehicleClassID); err == nil {
		return Place{Class: class}, h
	}
	return Place{}, nil
}

// PeriodOf is the hold of a booking, in whichever calendar: when, from which location and to which.
func PeriodOf(id uint64, b *record.Booking) *calendar.Hold {
	h := &calendar.Hold{Ref: fleet.FormatID(fleet.BookingPrefix, id), From: b.BlockedFrom, Until: b.BlockedUntil,
		Conflict: b.Conflict,
		Open:     b.Status == record.BookingActive && !b.Bygone(), Ends: cmp.Or(b.ReturnLocationID, b.PickupLocationID)}
	if !b.Elsewhere {
		h.Begins = b.PickupLocationID
	}
	return h
}

// bookingWants says whether a booking wants a hold: whether its newest revision says just that period in that calendar.
func (d *Holds) bookingWants(ctx context.Context, account fleet.AccountID, id uint64, at Place,
	h calendar.Hold) (bool, error) {
	r, err := d.Bookings.Get(ctx, account, id)
	if err != nil {
		return false, err
	}
	where, want := BookingHold(id, &r.Body)
	if where != at {
		return false, nil
	}
	return Standing(&h, r.Revision, want, func() error { return d.SettleBooking(ctx, record.System, account, id, at) })
}

// Bid is a hold that was taken for a revision of a booking that is not written yet.
type Bid struct {
	At   Place         // At is the calendar that it was taken in.
	Hold calendar.Hold // Hold is what stands there.
	// Beside is all that the calendar of its vehicle had when it was placed, its own holder's too.
	Beside []calendar.Hold

	until time.Time // when the revision must be written, or never: the hold counts as abandoned soon after
}

// Deadline is when a revision must be written that stands upon a bid, nil for none.
func (d *Holds) Deadline(b *Bid) time.Time {
	if b == nil {
		return time.Now().Add(d.WriteWithin)
	}
	return b.until
}

// Force is how hard a command takes what it needs.
type Force int

// The ways to take a place in a calendar.
const (
	Ask Force = iota // Ask is refused for whatever is in the way.
	// Keep has the vehicle already: it is refused only for time that it does not have yet, and no class is asked.
	Keep
	// Seize is refused only for a vehicle that somebody has driven off with; what else overlaps is flagged as a conflict.
	Seize
)

// capacityTries is how often a place in a class is asked for: of two that see each other in the middle of it
// both are refused.
const capacityTries = 3

// TakeFor takes what the next revision of a booking holds, beside what the present one has. A *calendar.ConflictError
// or a *fleet.Error of the code fleet.CodeConflict says what is in the way, and then nothing was taken. The second
// result says whether it overlaps. s is what the caller has seen a moment ago.
func (d *Holds) TakeFor(ctx context.Context, by record.Author, account fleet.AccountID, id, revision uint64,
	was, next *record.Booking, g Force, s AlreadyRead) (*Bid, bool, error) {
	at, want := BookingHold(id, next)
	if want == nil {
		return nil, false, nil
	}
	before, had := Place{}, (*calendar.Hold)(nil)
	if was != nil {
		before, had = BookingHold(id, was)
	}
	if had != nil && before == at && covers(had, want, d.Now()) && (g != Ask || had.SamePlaces(want)) {
		return nil, next.Conflict, nil
	}
	var gives *calendar.Bid // what the booking has now and gives up with this
	if had != nil {
		gives = &calendar.Bid{Vehicle: before.Vehicle, Hold: *had}
	}
	leaves := uint64(0)
	if had != nil && before.Vehicle == 0 && covers(had, want, d.Now()) && had.SamePlaces(want) {
		leaves = before.Class
	}
	likely, _ := fleet.ParseID(fleet.ClassPrefix, next.VehicleClassID)
	for try := 1; ; try++ {
		b := &Bid{At: at, Hold: *want, until: time.Now().Add(d.WriteWithin)}
		b.Hold.Rev, b.Hold.Bid, b.Hold.Conflict = revision, record.RandomID(), false
		shares := had
		if g != Keep || before != at || !was.Conflict {
			shares = nil
		}
		err := d.place(ctx, by, account, b, next.VehicleID, g == Seize, shares, s.Calendar)
		if err != nil {
			return nil, false, err
		}
		s.Calendar = nil // which is another one now
		if g != Ask {
			return b, b.Hold.Conflict, nil
		}
		if err = d.Capacity(ctx, by, account, b, gives, leaves, likely, s); err == nil {
			return b, false, nil
		}
		d.Withdraw(ctx, by, account, b)
		if _, wrong := errors.AsType[*ElsewhereError](err); wrong || fleet.CodeOf(err) != fleet.CodeConflict ||
			try == capacityTries {
			return nil, false, err
		}
		select {
		case <-ctx.Done():
			return nil, false, err
		case <-time.After(rand.N(time.Duration(try) * 40 * time.Millisecond)):
		}
	}
}

// place writes a bid into its calendar. force takes it whatever is in the way; shares, if not nil, is what the holder
// has together with others already, so that only the rest must be free. A vehicle that somebody has driven off with is
// in the way in any case.
func (d *Holds) place(ctx context.Context, by record.Author, account fleet.AccountID, b *Bid, vehicle string,
	force bool, shares *calendar.Hold, seen *record.Seen) error {
	cals, key := d.CalendarOf(b.At)
	all, err := cals.TakeSeen(ctx, seen, by, account, key, b.Hold)
	if _, taken := errors.AsType[*calendar.ConflictError](err); taken && (force || shares != nil) {
		b.Hold.Conflict = true
		all, err = cals.Take(ctx, by, account, key, b.Hold)
	}
	if err != nil {
		if Undecided(err) {
			d.Withdraw(ctx, by, account, b)
		}
		return err
	}
	now := d.Now()
	b.Beside = all.Standing(now)
	for _, o := range all.Beside(&b.Hold, now) {
		if b.At.Vehicle == 0 || !(o.Open && b.Hold.Open) && (shares == nil || !beyond(&b.Hold, shares, &o)) {
			continue
		}
		if abandoned, err := cals.Abandoned(ctx, account, key, o); err == nil && abandoned {
			continue // whoever died left it
		}
		d.Withdraw(ctx, by, account, b)
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
	return !had.Lapsed(now) && (had.Expires.IsZero() || had.Expires.Equal(want.Expires.Time)) &&
		(had.Open || !want.Open) && Within(want, had) &&
		(had.Back.IsZero() || !want.Back.IsZero() && !had.Back.Before(want.Back.Time))
}

// Within says whether a hold takes no time that another, which may be nil, does not have.
func Within(want, had *calendar.Hold) bool {
	return had != nil && !want.From.Before(had.From.Time) && !had.Until.Before(want.Until.Time)
}

// Withdraw gives a bid back that came to nothing. It must not fail because the caller's time is up; if it does all the
// same, the bid counts as abandoned after a while.
func (d *Holds) Withdraw(ctx context.Context, by record.Author, account fleet.AccountID, b *Bid) {
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	cals, key := d.CalendarOf(b.At)
	if err := cals.Withdraw(ctx, by, account, key, b.Hold); err != nil {
		d.Log.WarnContext(ctx, "a bid was not withdrawn and lapses by itself", "booking", b.Hold.Ref, "error", err)
	}
}

// Undecided says whether an error leaves open if the write happened: then a bid must stay, for the revision may stand.
// What cannot be decided in memory did not happen, and neither did what would have been under the id of another record.
func Undecided(err error) bool {
	if errors.Is(err, record.ErrNotYet) || errors.Is(err, record.ErrTaken) {
		return false
	}
	return fleet.CodeOf(err) == fleet.CodeUnavailable || fleet.CodeOf(err) == "" || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// settleCalendars makes the calendars that a revision of a booking touches say what the booking says by now. It is a
// consequence of the revision: whoever dies, it is done at last.
func (d *Holds) settleCalendars(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Booking](w)
	if err != nil || before == nil {
		return err // the first revision stands upon the very hold that was taken for it
	}
	left, had := BookingHold(w.ID, before)
	at, want := BookingHold(w.ID, after)
	if had != nil && want != nil && left == at && had.From == want.From && had.Until == want.Until &&
		had.Expires == want.Expires && had.Open == want.Open && had.Conflict == want.Conflict && had.Back == want.Back &&
		had.SamePlaces(want) {
		return nil
	}
	places := []Place{left}
	if at != left {
		places = append(places, at)
	}
	for _, p := range places {
		if p == (Place{}) {
			continue
		}
		if err := d.SettleBooking(ctx, record.Author{Actor: w.Actor, RequestID: w.RequestID}, w.Account, w.ID,
			p); err != nil {
			return err
		}
	}
	return nil
}

// SettleBooking makes one calendar say what a booking says by now.
func (d *Holds) SettleBooking(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	p Place) error {
	cals, key := d.CalendarOf(p)
	return cals.SettleHolder(ctx, by, account, key, fleet.FormatID(fleet.BookingPrefix, id),
		func(ctx context.Context) (uint64, *calendar.Hold, error) {
			r, err := d.Bookings.Get(ctx, account, id)
			if err != nil {
				return 0, nil, err
			}
			where, hold := BookingHold(id, &r.Body)
			if where != p {
				hold = nil
			}
			return r.Revision, hold, nil
		})
}
