package calendar

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Vehicle is a vehicle as its class sees it: where it is, and what has it from now on.
//
// Where it will be follows from what has it: a booking leaves it where it is returned, a transfer where it is brought
// to, and what names no location leaves it where it is. A vehicle whose place nobody knows serves bookings at any
// location.
type Vehicle struct {
	ID    uint64
	Place string    // the location where it is; empty if nobody knows
	Since time.Time // holds that ended until then have brought it there already
	Holds []Hold    // that count (see Standing)

	settled bool // it stays at Place, by all of Holds
	tidy    bool // see Series
}

// Series are holds, with what is the same for whoever looks at them.
type Series struct {
	Holds  []Hold
	Places []string // that they name, each once
	Tidy   bool     // none begins or ends before the one that is before it
}

// NewSeries looks through holds.
func NewSeries(holds []Hold) Series {
	s := Series{Holds: holds, Tidy: true}
	for i := range holds {
		for _, place := range [...]string{holds[i].Begins, holds[i].Ends} {
			if place != "" && !slices.Contains(s.Places, place) {
				s.Places = append(s.Places, place)
			}
		}
		if i > 0 && (holds[i].From.Before(holds[i-1].From.Time) || holds[i].Until.Before(holds[i-1].Until.Time)) {
			s.Tidy = false
		}
	}
	return s
}

// EndingAfter are those of the holds that end after an instant. Tidy ones are shared.
func (s *Series) EndingAfter(t time.Time) Series {
	if !s.Tidy {
		return NewSeries(slices.DeleteFunc(slices.Clone(s.Holds), func(h Hold) bool { return !h.Until.After(t) }))
	}
	from := sort.Search(len(s.Holds), func(i int) bool { return s.Holds[i].Until.After(t) })
	return Series{s.Holds[from:], s.Places, true}
}

// Give gives a vehicle its holds, for who asks many times where it will be and whether it is free: whether they are
// tidy, and whether it stays where it is by all that they name, is noted once. They must not be changed afterwards;
// With is for that.
func (v *Vehicle) Give(s Series) {
	v.Holds, v.tidy = s.Holds, s.Tidy
	v.settled = v.Place != "" && !slices.ContainsFunc(s.Places, func(named string) bool { return named != v.Place })
}

// With is the vehicle with a hold more.
func (v *Vehicle) With(h Hold) *Vehicle {
	more := v.holding(append(slices.Clone(v.Holds), h))
	return &more
}

// holding is the vehicle with other holds.
func (v *Vehicle) holding(holds []Hold) Vehicle {
	return Vehicle{ID: v.ID, Place: v.Place, Since: v.Since, Holds: holds}
}

// Standing returns the holds that count at an instant: without those that have lapsed, and open ones as they last.
func (c *Calendar) Standing(now time.Time) []Hold {
	var all []Hold
	for _, h := range c.Holds {
		if !h.Lapsed(now) {
			all = append(all, h.Lasting(now))
		}
	}
	return all
}

// At returns where a vehicle will be at an instant: where the last of its holds leaves it that is over by then. The
// holds of one holder do not count; empty if nobody knows. Before one that has brought it to where it is, it was where
// that began.
func (v *Vehicle) At(t time.Time, without string) string {
	if v.settled {
		return v.Place
	}
	place, last := v.Place, v.Since
	var next *Hold
	for i := range v.Holds {
		h := &v.Holds[i]
		if h.Ref != without && h.Ends != "" && h.From.After(t) && !h.Until.After(v.Since) &&
			(next == nil || h.From.Before(next.From.Time)) {
			next = h
		}
	}
	if next != nil {
		place, last = cmp.Or(next.Begins, place), time.Time{}
	}
	for i := range v.Holds {
		h := &v.Holds[i]
		if h.Ref != without && h.Ends != "" && h.Until.After(last) && !h.Until.After(t) {
			place, last = h.Ends, h.Until.Time
		}
	}
	return place
}

// stays says whether what has the vehicle names no other location than the one where it is, or than each other if
// nobody knows where it is, so that nothing of it can be in the wrong place: as in a business of one location, whose
// vehicles may have thousands of holds.
func (v *Vehicle) stays() bool {
	place := v.Place
	for i := range v.Holds {
		for _, named := range [...]string{v.Holds[i].Begins, v.Holds[i].Ends} {
			if place == "" {
				place = named
			} else if named != "" && named != place {
				return false
			}
		}
	}
	return true
}

// Misplaced is why a vehicle cannot serve a hold although it is free.
type Misplaced struct {
	At   string // the other location where it will be; empty if Next is why
	Next *Hold  // that begins at another location than the one where it would be left
}

// Misplaced says why a vehicle is in the wrong place for a hold, nil if it is not: it must be at the location where the
// hold begins, and a hold that moves it must leave it where the next one begins.
func (v *Vehicle) Misplaced(h *Hold) *Misplaced {
	at := v.At(h.From.Time, h.Ref)
	if h.Begins != "" && at != "" && at != h.Begins {
		return &Misplaced{At: at}
	}
	if h.Ends == "" || h.Ends == at {
		return nil
	}
	var next *Hold
	for i := range v.Holds {
		o := &v.Holds[i]
		if o.Ref != h.Ref && !o.From.Before(h.Until.Time) && o.Begins+o.Ends != "" &&
			(next == nil || o.From.Before(next.From.Time)) {
			next = o
		}
	}
	if next != nil && next.Begins != "" && next.Begins != h.Ends {
		return &Misplaced{Next: next}
	}
	return nil
}

// Displaced returns the hold that would be in the wrong place, and why, if a holder had what it wants of the vehicle
// instead of what it has: what it wants itself, or a later one. Either may be nil. What is in the wrong place as it is
// does not count.
func (v *Vehicle) Displaced(ref string, had, want *Hold) (*Hold, *Misplaced) {
	with := func(h *Hold) *Vehicle {
		other := v.holding(slices.DeleteFunc(slices.Clone(v.Holds), func(o Hold) bool { return o.Ref == ref }))
		if h != nil {
			other.Holds = append(other.Holds, *h)
		}
		return &other
	}
	now, then := with(had), with(want)
	if then.stays() {
		return nil, nil
	}
	if want != nil {
		if wrong := then.Misplaced(want); wrong != nil && (had == nil || now.Misplaced(had) == nil) {
			return want, wrong
		}
	}
	for i := range then.Holds {
		o := &then.Holds[i]
		if o.Ref == ref {
			continue
		}
		if wrong := then.Misplaced(o); wrong != nil && now.Misplaced(o) == nil {
			return o, wrong
		}
	}
	return nil, nil
}

// Serves says whether a vehicle can be given to a booking: nobody else has it, and it is in the right place.
func (v *Vehicle) Serves(h *Hold) bool {
	if v.settled && h.Begins != "" && h.Begins != v.Place {
		return false // as Misplaced would say, more slowly
	}
	return v.Free(h) && v.Misplaced(h) == nil
}

// Free says whether nobody else has a vehicle while a hold lasts.
func (v *Vehicle) Free(h *Hold) bool {
	some := v.Holds
	if v.tidy {
		from := sort.Search(len(some), func(i int) bool { return some[i].Until.After(h.From.Time) })
		until := sort.Search(len(some), func(i int) bool { return !some[i].From.Before(h.Until.Time) })
		some = some[from:max(from, until)]
	}
	for i := range some {
		if o := &some[i]; h.Overlaps(o.From.Time, o.Until.Time) && o.Ref != h.Ref {
			return false
		}
	}
	return true
}

// Room is what a class has: its vehicles, and the bookings of it that have no vehicle yet.
//
// Each of those bookings needs as many vehicles that can serve it as there are bookings that might take one of them
// from it, itself included. Then each finds a vehicle, in whatever order they get theirs and whichever they are
// given: whoever comes to choose has as many vehicles as there are such bookings, and each of the others has taken
// one of them at most.
//
// A vehicle that a booking without a vehicle will bring to a location does not count there before the booking has its
// vehicle.
type Room struct {
	Vehicles      []Vehicle
	Booked        []Hold // that count
	OverbookingBP int    // by how many more there may be, in hundredths of a percent of the vehicles at the location
}

// Rivals says whether of two holds one may take the other's vehicle: they overlap and begin at the same location, or
// the earlier one drives it away from where the later one begins. Holds that overlap and begin at different locations
// take none from each other, as nothing can bring a vehicle from one to the other while it is free for both. If nobody
// knows where the vehicle is, either may tell.
func Rivals(a, b *Hold, unknown bool) bool {
	if a.Overlaps(b.From.Time, b.Until.Time) {
		return unknown || a.Begins == b.Begins || a.Begins == "" || b.Begins == ""
	}
	if b.From.Before(a.From.Time) {
		a, b = b, a
	}
	if a.Ends == "" || b.Begins == "" || a.Ends == b.Begins {
		return false
	}
	return unknown || a.Begins != a.Ends
}

// unknown says whether nobody knows where some vehicle of the class is.
func (r *Room) unknown() bool {
	return slices.ContainsFunc(r.Vehicles, func(v Vehicle) bool { return v.Place == "" })
}

// Spare returns how many more bookings like one there may be, besides itself: the vehicles that can serve it less those
// that its rivals and it need. It is negative if there are too few.
func (r *Room) Spare(h *Hold) int {
	serving, there := 0, 0
	for i := range r.Vehicles {
		v := &r.Vehicles[i]
		if v.Serves(h) {
			serving++
		}
		if at := v.At(h.From.Time, h.Ref); h.Begins == "" || at == "" || at == h.Begins {
			there++
		}
	}
	unknown, rivals := r.unknown(), map[string]bool{}
	for i := range r.Booked {
		if o := &r.Booked[i]; o.Ref != h.Ref && Rivals(o, h, unknown) {
			rivals[o.Ref] = true
		}
	}
	return serving + there*r.OverbookingBP/10000 - len(rivals) - 1
}

// Left returns how many more bookings like one that is not booked the class has room for.
func (r *Room) Left(h *Hold) int {
	left, unknown := r.Spare(h)+1, r.unknown()
	for i := range r.Booked {
		if o := &r.Booked[i]; left > 0 && Rivals(o, h, unknown) {
			left = min(left, r.Spare(o))
		}
	}
	return max(0, left)
}

// Bid is a hold and where it lies: of one vehicle, or of the class if that is 0.
type Bid struct {
	Vehicle uint64
	Hold    Hold
}

// Refuses returns the booking of the class for which there would be too few vehicles if a holder had what it wants
// instead of what it has, either of which may be nil; nil if there is none, or none that is worse off than now.
func (r *Room) Refuses(ref string, had, want *Bid) *Hold {
	others, unknown := r.without(ref), r.unknown()
	now, then := others.with(had), others.with(want)
	for i := range then.Booked {
		h := &then.Booked[i]
		if h.Ref != ref && !now.loses(then, want, h, unknown) {
			continue
		}
		if spare := then.Spare(h); spare < 0 && (h.Ref == ref || spare < now.Spare(h)) {
			return h
		}
	}
	return nil
}

// loses says whether a booking of the class loses anything to a bid: it gets a rival, or a vehicle cannot serve it any
// more.
func (r *Room) loses(then *Room, want *Bid, h *Hold, unknown bool) bool {
	if want != nil && want.Vehicle == 0 {
		return Rivals(&want.Hold, h, unknown)
	}
	for i := range r.Vehicles {
		if r.Vehicles[i].Serves(h) && !then.Vehicles[i].Serves(h) {
			return true
		}
	}
	return false
}

// without is the room without what one holder has of it.
func (r *Room) without(ref string) Room {
	drop := func(holds []Hold) []Hold {
		return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.Ref == ref })
	}
	rest := Room{Vehicles: slices.Clone(r.Vehicles), Booked: drop(r.Booked), OverbookingBP: r.OverbookingBP}
	for i := range rest.Vehicles {
		rest.Vehicles[i] = rest.Vehicles[i].holding(drop(rest.Vehicles[i].Holds))
	}
	return rest
}

// with is the room with one hold more, if the class or one of its vehicles has that.
func (r *Room) with(b *Bid) *Room {
	more := *r
	switch {
	case b == nil:
	case b.Vehicle == 0:
		more.Booked = append(slices.Clone(r.Booked), b.Hold)
	default:
		more.Vehicles = slices.Clone(r.Vehicles)
		for i := range more.Vehicles {
			if v := &more.Vehicles[i]; v.ID == b.Vehicle {
				more.Vehicles[i] = *v.With(b.Hold)
			}
		}
	}
	return &more
}
