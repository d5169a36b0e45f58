package alert

import (
	"slices"

	"github.com/motorpool/fleet"
)

// watch is a sort of fact.
type watch uint8

const (
	silence watch = iota
	idling
	dwelling
	obligations
)

// patience is how long no fix may come before a vehicle is held to idle on through the silence: one that reports more
// often is asked for the next fix, which may be far away.
const patience = 2 * minute

// fact is something that a rule may find at any time, as it is known from the state and the traits alone: silence,
// idling, dwelling, and what a vehicle is bound by.
type fact struct {
	fence    fleet.FenceID
	subject  string
	since    fleet.Millis
	required fleet.Millis // For how long it must have been so.
	limit    float64      // The threshold, if it is not the rule's own.
	over     fleet.Millis // From when on it is so no more; 0 if that is not known.
	seen     fleet.Millis // When it was last seen, of what is sure only as long as it is seen; else 0.
}

// facts visits what a rule of such a kind may find up to a time, if nothing changes; 0 is no limit.
func (c *call) facts(r *rule, until fleet.Millis, visit func(fact)) {
	s := c.s
	x := fact{required: r.required}
	switch r.watch {
	case silence:
		if x.since = s.Heard; s.Heard != 0 {
			visit(x)
		}
	case idling:
		if x.since, x.seen = s.IdleFrom, s.IdleSeen; s.idles() {
			visit(x)
		}
	case dwelling:
		for i := range s.Inside {
			in := &s.Inside[i]
			if !r.fenced(in.Fence) {
				continue
			}
			x.fence, x.since = in.Fence, in.Since
			if r.threshold == 0 {
				if in.Dwelt == 0 {
					continue
				}
				x.limit = float64(in.Dwelt-in.Since) / 1000
				x.required = max(in.Dwelt-in.Since, r.MinDuration)
			}
			visit(x)
		}
	case obligations:
		for i := range len(c.t.Obligations) + len(s.Bound) {
			var o *fleet.Obligation
			if i < len(c.t.Obligations) {
				o = &c.t.Obligations[i]
			} else {
				o = &s.Bound[i-len(c.t.Obligations)]
			}
			if o.Kind != r.bound || o.Done && o.DoneAt == 0 {
				continue
			}
			x.subject, x.since, x.over = o.Ref, o.To, o.DoneAt
			switch {
			case r.Kind == fleet.AlertBookingConflict:
				if x.since = o.From; x.since == 0 {
					x.since = s.At
				}
			case o.To == 0:
				continue
			case !r.timed:
				x.since = max(o.To-seconds(r.threshold), 1)
			}
			if until == 0 || x.since+x.required <= until {
				visit(x)
			}
		}
	}
}

// obligation returns the kind of obligation that a rule is about.
func obligation(kind fleet.AlertKind) string {
	switch kind {
	case fleet.AlertOverdueReturn:
		return "booking"
	case fleet.AlertDocumentExpiring:
		return "document"
	case fleet.AlertMaintenanceDue:
		return "maintenance"
	case fleet.AlertBookingConflict:
		return "conflict"
	case fleet.AlertStopMissed:
		return "stop"
	case fleet.AlertRouteDeviation:
		return "corridor"
	}
	return ""
}

// nothing says that a rule finds nothing before a time, where that is quickly seen.
func (c *call) nothing(r *rule, before fleet.Millis) bool {
	switch r.watch {
	case obligations:
		return len(c.t.Obligations)+len(c.s.Bound) == 0
	case silence:
		return c.s.Heard == 0 || before != 0 && before < c.s.Heard+r.required
	case idling:
		return !c.s.idles() || before != 0 && before < c.s.IdleFrom+r.required
	}
	return len(c.s.Inside) == 0
}

// due returns when a rule finds a fact if nothing changes, and when the alert for it began; 0 and 0 if never, or if it
// has found it.
func (c *call) due(r *rule, x *fact) (begin, due fleet.Millis) {
	found := x.since + x.required // but for the rule's own limits
	if x.over != 0 && found >= x.over {
		return 0, 0
	}
	earliest, heldBack := max(found, r.From, c.s.Reached), r.From > found || !r.hours.holds(found)
	if i, known := c.s.find(r.ID, x.fence, x.subject); known {
		f := &c.s.Found[i]
		if f.Phase == Raised {
			return 0, 0
		}
		if f.Revision == r.Revision && f.Cool > x.since { // an edited rule judges anew
			earliest, heldBack = max(earliest, f.Cool), true
		}
	}
	if x.seen != 0 && earliest > x.seen {
		earliest = max(earliest, x.seen+patience)
	}
	due = r.hours.opens(earliest)
	if due == 0 || r.To != 0 && due >= r.To || x.over != 0 && due >= x.over {
		return 0, 0
	}
	if heldBack {
		return due, due
	}
	return max(x.since, r.From), due
}

// holds says whether what an instance was raised for is still so, and from when on it is not, or 0 if
// that is not known.
func (c *call) holds(r *rule, f *Found) (holds bool, over fleet.Millis) {
	now := max(c.s.At, f.Told)
	c.facts(r, now, func(x fact) {
		if x.fence == f.Fence && x.subject == f.Subject && x.since+x.required <= now {
			holds, over = x.over == 0 || now < x.over, x.over
		}
	})
	return holds, over
}

// find raises what the rules find at the time of the call.
func (c *call) find() {
	for _, r := range c.e.facts {
		if !r.current(c.at) || c.nothing(r, c.at) {
			continue
		}
		c.facts(r, c.at, func(x fact) {
			begin, due := c.due(r, &x)
			if due == 0 || due > c.at || !r.scoped(c.key.Vehicle, c.t) {
				return
			}
			i, found := c.s.find(r.ID, x.fence, x.subject)
			if found {
				c.s.Found = slices.Delete(c.s.Found, i, i+1) // it has cooled down, or is an older version's
			}
			f := c.insert(i, r, x.fence, x.subject)
			if x.limit > 0 {
				f.Threshold = x.limit
			}
			f.Since, f.Begin, f.Seen = x.since, begin, c.at
			f.Placed, f.Place = c.s.Placed, c.s.Place
			if r.timed {
				c.measure(f, r, float64(c.at-x.since)/1000)
			}
			c.raise(f, r, c.at)
		})
	}
}

// vanished resolves what facts no longer hold. What drives has idled up to when it went.
func (c *call) vanished(at fleet.Millis) {
	for i := range c.s.Found {
		f := &c.s.Found[i]
		if f.Phase != Raised {
			continue
		}
		r := c.e.version(f.Rule, f.Revision)
		if r == nil || !r.fact {
			continue
		}
		if holds, over := c.holds(r, f); !holds {
			if over == 0 {
				over = at
			}
			if r.watch == idling && c.went != 0 {
				over = c.went
			}
			c.resolve(f, max(over, f.Told), cleared)
		}
	}
}
