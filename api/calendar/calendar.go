// Package calendar keeps vehicles from being rented twice. A vehicle's calendar is one record (kind "calendar", under
// the vehicle's id) that lists its holds: bookings, blocks and work orders, each with a half-open period. Taking a hold
// is a compare-and-set of that record, so of two that overlap exactly one gets it, from any number of processes,
// without a lock.
//
//	take(hold) ──calendar written──► held ──its booking written──► stands
//	                                  └── its booking never was: abandoned, and given up by whoever it is in the way of
//
// The calendar decides who holds; the record that took the hold (the holder) says why. A process may die between the
// two, so a hold that stands in somebody's way and is older than Abandoned, by clocks that may differ by Skew, is
// looked up: one whose holder does not want it is dropped.
//
// A holder whose period may change while others change it too (a booking) makes bids: each change takes the period that
// it needs in a hold of its own, for the revision of the holder that it means to write, beside what the holder has.
// When one of the changes has been written, SettleHolder leaves of all that the one hold that the holder now says. So
// at any moment the calendar holds at least what the newest revision of the holder says, whoever dies.
//
// A class's calendar (kind "class_calendar", under the class's id) lists what was booked of the class without a
// vehicle. There holds lie beside each other; how many may is for the caller to say.
//
// A rental's hold ends with a buffer for cleaning and preparation. It keeps other bookings away, and no block and no
// work order: the work at the vehicle may begin in it.
//
// Holds that ended more than Kept ago are dropped when the calendar is written next, bids once they are decided.
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
	// Open says that the holder has driven off: the hold does not end before it is given up, however long after Until.
	Open bool `json:"open,omitempty"`
	// Back is from when the hold of a rental is but the buffer after it, in which the vehicle is made ready: other
	// bookings have to wait for its end, blocks and work orders need not. Zero if it has none.
	Back record.Instant `json:"back,omitzero"`
	// Begins is the location where the vehicle must be at From, and Ends the one where it is left; empty for wherever it
	// is. What begins somewhere ends somewhere. See Vehicle.
	Begins string `json:"begins,omitempty"`
	Ends   string `json:"ends,omitempty"`
	// Rev is the revision of the holder that the hold is for, if it changes by bids; zero if it has one period at a time.
	Rev uint64 `json:"rev,omitempty"`
	// Bid tells bids of one revision apart; zero for holders that make none, and of what was settled.
	Bid uint64 `json:"bid,omitempty"`
}

// ForEver is when a retired or archived vehicle's hold on its own calendar ends: after all others.
var ForEver = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// Overlaps says whether two half-open periods share a moment.
func (h *Hold) Overlaps(from, until time.Time) bool {
	return h.From.Before(until) && from.Before(h.Until.Time)
}

// End is the first moment after which the hold ends for sure, as far as one can say now.
func (h *Hold) End(now time.Time) time.Time {
	if h.Open && !now.Before(h.Until.Time) {
		return now.Add(time.Millisecond)
	}
	return h.Until.Time
}

// Lasting is the hold as it lasts now: one that is open goes on until now at least, and so the buffer after it
// has not begun.
func (h Hold) Lasting(now time.Time) Hold {
	if !h.Open {
		return h
	}
	if !h.Back.IsZero() {
		rental := Hold{Until: h.Back, Open: true}
		h.Back = record.InstantOf(rental.End(now))
	}
	h.Until = record.InstantOf(h.End(now))
	return h
}

// toward is the hold as another holder meets it: without the buffer, if that is a block or a work order.
func (h Hold) toward(ref string) Hold {
	works := strings.HasPrefix(ref, fleet.BlockPrefix) || strings.HasPrefix(ref, fleet.WorkOrderPrefix)
	if works && !h.Back.IsZero() && h.Back.Before(h.Until.Time) {
		h.Until = h.Back
	}
	return h
}

// meets says whether a hold that somebody wants and one that another has are in each other's way.
func (h *Hold) meets(o *Hold, now time.Time) bool {
	if o.Ref == h.Ref || o.Lapsed(now) {
		return false
	}
	theirs, ours := o.Lasting(now).toward(h.Ref), h.Lasting(now).toward(o.Ref)
	return theirs.Overlaps(ours.From.Time, ours.Until.Time)
}

// Lapsed says whether a pending hold has lapsed.
func (h *Hold) Lapsed(now time.Time) bool { return !h.Expires.IsZero() && !now.Before(h.Expires.Time) }

// same says whether two holds are of one holder and say the same, whenever and for whichever revision they were taken.
func (h *Hold) same(o *Hold) bool {
	return h.Ref == o.Ref && h.From.Equal(o.From.Time) && h.Until.Equal(o.Until.Time) && h.Expires.Equal(o.Expires.Time) &&
		h.Open == o.Open && h.Conflict == o.Conflict && h.Back.Equal(o.Back.Time) && h.SamePlaces(o)
}

// SamePlaces says whether two holds begin and end at the same locations.
func (h *Hold) SamePlaces(o *Hold) bool { return h.Begins == o.Begins && h.Ends == o.Ends }

// Calendar is what is stored of one vehicle.
type Calendar struct {
	Holds []Hold `json:"holds"` // by From
}

// Kind describes the calendars of vehicles.
var Kind = record.Kind[Calendar]{Name: "calendar", Prefix: fleet.VehiclePrefix}

// ClassKind describes the calendars of classes.
var ClassKind = record.Kind[Calendar]{Name: "class_calendar", Prefix: fleet.ClassPrefix}

// Conflict returns the first hold in the way of another, or nil. The holder's own does not count, nor what has lapsed.
func (c *Calendar) Conflict(h *Hold, now time.Time) *Hold {
	for i := range c.Holds {
		if h.meets(&c.Holds[i], now) {
			return &c.Holds[i]
		}
	}
	return nil
}

// Beside returns the holds of others that are in the way of a hold, without those that have lapsed.
func (c *Calendar) Beside(h *Hold, now time.Time) []Hold {
	var all []Hold
	for i := range c.Holds {
		if h.meets(&c.Holds[i], now) {
			all = append(all, c.Holds[i])
		}
	}
	return all
}

// Taken is Beside with each holder's first hold only.
func (c *Calendar) Taken(h *Hold, now time.Time) []Hold {
	seen := map[string]bool{}
	return slices.DeleteFunc(c.Beside(h, now), func(h Hold) bool {
		again := seen[h.Ref]
		seen[h.Ref] = true
		return again
	})
}

// ConflictError says that a vehicle is taken. It unwraps to a *fleet.Error of the code fleet.CodeConflict.
type ConflictError struct {
	Vehicle string
	Hold    Hold // that is in the way
}

func (e *ConflictError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *ConflictError) Unwrap() error {
	if e.Hold.Open {
		return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The vehicle %s is out with %s since %s, and due back at %s.",
			e.Vehicle, e.Hold.Ref, e.Hold.From.Format(time.RFC3339), e.Hold.Until.Format(time.RFC3339)))
	}
	until := e.Hold.Until.Format(time.RFC3339)
	if back := e.Hold.Back; !back.IsZero() && back.Before(e.Hold.Until.Time) {
		until = fmt.Sprintf("%s, with the buffer after it until %s", back.Format(time.RFC3339), until)
	}
	return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The vehicle %s is taken by %s from %s until %s.",
		e.Vehicle, e.Hold.Ref, e.Hold.From.Format(time.RFC3339), until))
}

// Config are the times that calendars go by.
type Config struct {
	Abandoned time.Duration // age of a hold at which its holder is asked whether it wants it; above any write's deadline
	// by which the clocks of processes may differ: who asks may be so much ahead of who took the hold
	Skew time.Duration
	Kept time.Duration // after its end
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{Abandoned: 20 * time.Second, Skew: time.Minute, Kept: 400 * 24 * time.Hour}
}

// Wanted says whether the record behind a hold wants it: whether a booking, block or work order stands that holds this
// vehicle in this period.
type Wanted func(ctx context.Context, account fleet.AccountID, vehicle uint64, h Hold) (bool, error)

// Calendars are those of all vehicles, or of all classes. It is safe for concurrent use.
type Calendars struct {
	cfg    Config
	log    *record.Log[Calendar]
	wanted Wanted
	now    func() time.Time
	shared bool
}

// New returns the calendars of vehicles in a store.
func New(cfg Config, store *record.Store, wanted Wanted, now func() time.Time) *Calendars {
	return &Calendars{cfg: cfg, log: record.NewLog(store, Kind), wanted: wanted, now: now}
}

// NewShared returns the calendars of classes in a store: there holds may overlap.
func NewShared(cfg Config, store *record.Store, wanted Wanted, now func() time.Time) *Calendars {
	return &Calendars{cfg: cfg, log: record.NewLog(store, ClassKind), wanted: wanted, now: now, shared: true}
}

// Of returns the holds of a vehicle or class, none if it never had any.
func (c *Calendars) Of(ctx context.Context, account fleet.AccountID, id uint64) ([]Hold, error) {
	r, err := c.log.Get(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil, nil
	}
	return r.Body.Holds, err
}

// Unlisted returns the holds of those of some calendars that were written so lately that the current table may not know
// it yet, by their ids.
func (c *Calendars) Unlisted(ctx context.Context, account fleet.AccountID, ids []uint64) (map[uint64][]Hold, error) {
	written, err := c.log.Unlisted(ctx, account, ids)
	holds := make(map[uint64][]Hold, len(written))
	for i := range written {
		holds[written[i].ID] = written[i].Body.Holds
	}
	return holds, err
}

// Take gives a vehicle to a holder for a period: in the place of what the holder had of it or, if h is a bid, beside
// that. A *ConflictError names the hold that is in the way; h.Conflict, and a calendar of a class, take it all the
// same. What it returns is decided: all that the calendar had beside it when it was taken. After another error it is
// open whether the hold stands: a bid lapses, and of another the next Take or Give of the holder settles it.
func (c *Calendars) Take(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64,
	h Hold) (*Calendar, error) {
	return c.TakeSeen(ctx, nil, by, account, vehicle, h)
}

// Look sees a calendar, for TakeSeen; with recall perhaps as it stood a moment ago, see record.Log.Look.
func (c *Calendars) Look(ctx context.Context, account fleet.AccountID, id uint64, recall bool) (*record.Seen, error) {
	return c.log.Look(ctx, account, id, recall)
}

// In returns the holds of a calendar that was seen; false if it was not.
func (c *Calendars) In(seen *record.Seen, account fleet.AccountID, id uint64) ([]Hold, bool) {
	r, ok, err := c.log.In(seen, account, id)
	return r.Body.Holds, ok && (err == nil || fleet.CodeOf(err) == fleet.CodeNotFound)
}

// TakeSeen is Take for a caller who has seen the calendar a moment ago, or not if seen is nil.
func (c *Calendars) TakeSeen(ctx context.Context, seen *record.Seen, by record.Author, account fleet.AccountID,
	vehicle uint64, h Hold) (*Calendar, error) {
	if !h.From.Before(h.Until.Time) {
		return nil, fleet.NewError(fleet.CodeValidation, "A period must end after it begins.")
	}
	unwanted := map[holdKey]bool{}
	for {
		var beside *Calendar
		err := c.change(ctx, seen, by, account, vehicle, func(cal *Calendar) error {
			now := c.now()
			cal.Holds = slices.DeleteFunc(cal.Holds, func(o Hold) bool {
				mine := o.Ref == h.Ref && (h.Bid == 0 || o.Bid == h.Bid)
				return mine || unwanted[keyOf(&o)] || o.Lapsed(now) || !o.Open && now.Sub(o.Until.Time) > c.cfg.Kept &&
					(o.Bid == 0 || now.Sub(o.At.Time) > c.cfg.Abandoned+c.cfg.Skew)
			})
			if found := cal.Conflict(&h, now); found != nil && !h.Conflict && !c.shared {
				return &ConflictError{Vehicle: fleet.FormatID(fleet.VehiclePrefix, vehicle), Hold: *found}
			}
			beside = &Calendar{Holds: slices.Clone(cal.Holds)}
			h.At = record.InstantOf(now)
			cal.insert(h)
			return nil
		})
		taken, ok := errors.AsType[*ConflictError](err)
		if !ok {
			return beside, err
		}
		if unwanted[keyOf(&taken.Hold)] {
			return nil, err
		}
		abandoned, asked := c.Abandoned(ctx, account, vehicle, taken.Hold)
		if asked != nil || !abandoned {
			return nil, err
		}
		unwanted[keyOf(&taken.Hold)] = true
	}
}

// Abandoned says whether nobody wants a hold: it is old enough for its holder to have been written, by whatever clock,
// and the holder does not say it.
func (c *Calendars) Abandoned(ctx context.Context, account fleet.AccountID, vehicle uint64, h Hold) (bool, error) {
	if c.now().Sub(h.At.Time) < c.cfg.Abandoned+c.cfg.Skew {
		return false, nil
	}
	wanted, err := c.wanted(ctx, account, vehicle, h)
	return err == nil && !wanted, err
}

// holdKey names one hold of a calendar, as it was taken: one taken anew has another.
type holdKey struct {
	ref      string
	rev, bid uint64
	at       int64
}

func keyOf(h *Hold) holdKey { return holdKey{h.Ref, h.Rev, h.Bid, h.At.UnixMilli()} }

// Give gives up all that a holder has of a vehicle, bids too. Giving up what one does not hold is harmless.
func (c *Calendars) Give(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64,
	ref string) error {
	return c.drop(ctx, by, account, vehicle, func(o Hold) bool { return o.Ref == ref })
}

// Withdraw gives up bids, or abandoned holds, and leaves what else their holders have.
func (c *Calendars) Withdraw(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64,
	some ...Hold) error {
	if len(some) == 0 {
		return nil
	}
	return c.drop(ctx, by, account, vehicle, func(o Hold) bool {
		return slices.ContainsFunc(some, func(h Hold) bool {
			return o.Ref == h.Ref && o.Bid == h.Bid && o.Rev == h.Rev && (h.At.IsZero() || h.At.Equal(o.At.Time))
		})
	})
}

// drop gives up some holds; a calendar that has none of them, or is not there, is not written.
func (c *Calendars) drop(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64,
	which func(Hold) bool) error {
	err := c.update(ctx, nil, by, account, vehicle, func(cal *Calendar) error {
		cal.Holds = slices.DeleteFunc(cal.Holds, which)
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil
	}
	return err
}

// SettleHolder makes a calendar say of a holder what the holder says: present reads the holder's newest revision and
// gives its number and the hold that it wants of this vehicle, nil for none. Bids for newer revisions stay. It decides
// nothing, so that what it puts in may overlap, and it may be repeated, late and at once.
func (c *Calendars) SettleHolder(ctx context.Context, by record.Author, account fleet.AccountID, vehicle uint64,
	ref string, present func(context.Context) (uint64, *Hold, error)) error {
	settle := func(cal *Calendar) error {
		// The holder is read after the calendar: if it changes in between, whoever changed it comes to settle after us.
		rev, want, err := present(ctx)
		if err != nil {
			return err
		}
		kept := want == nil
		cal.Holds = slices.DeleteFunc(cal.Holds, func(o Hold) bool {
			if o.Ref != ref || o.Rev > rev {
				return false
			}
			first := !kept && o.same(want)
			kept = kept || first
			return !first
		})
		// What is kept may be the bid of one who lost against another that bid the same, and who will withdraw it.
		for i := range cal.Holds {
			if o := &cal.Holds[i]; o.Ref == ref && o.Rev <= rev {
				o.Bid = 0
			}
		}
		if !kept {
			want.Rev, want.At = rev, record.InstantOf(c.now())
			cal.insert(*want)
		}
		return nil
	}
	err := c.update(ctx, nil, by, account, vehicle, settle)
	if fleet.CodeOf(err) != fleet.CodeNotFound {
		return err
	}
	if _, want, err := present(ctx); err != nil || want == nil {
		return err
	}
	return c.change(ctx, nil, by, account, vehicle, settle)
}

// insert puts a hold in its place.
func (c *Calendar) insert(h Hold) {
	at, _ := slices.BinarySearchFunc(c.Holds, h, func(a, b Hold) int {
		if d := a.From.Compare(b.From.Time); d != 0 {
			return d
		}
		if d := strings.Compare(a.Ref, b.Ref); d != 0 {
			return d
		}
		return a.Until.Compare(b.Until.Time)
	})
	c.Holds = slices.Insert(c.Holds, at, h)
}

// change writes a calendar, the first one if there is none.
func (c *Calendars) change(ctx context.Context, seen *record.Seen, by record.Author, account fleet.AccountID,
	vehicle uint64, mutate func(*Calendar) error) error {
	err := c.update(ctx, seen, by, account, vehicle, mutate)
	if fleet.CodeOf(err) != fleet.CodeNotFound {
		return err
	}
	if _, _, err := c.log.Ensure(ctx, by, account, vehicle, Calendar{Holds: []Hold{}}); err != nil {
		return err
	}
	return c.update(ctx, nil, by, account, vehicle, mutate)
}

// update writes a calendar that is there. A request that is repeated may have written it before, to give back what it
// had taken, say: that is no reason to take for done what is refused now.
func (c *Calendars) update(ctx context.Context, seen *record.Seen, by record.Author, account fleet.AccountID,
	vehicle uint64, mutate func(*Calendar) error) error {
	by.Again = false
	return c.log.UpdateSeen(ctx, seen, by, account, vehicle,
		func(r *record.Record[Calendar]) error { return mutate(&r.Body) })
}
