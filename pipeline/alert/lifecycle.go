package alert

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"github.com/motorpool/fleet"
)

// stale is the silence after which nothing is said of speed and motion any more: it is when a trip has no data.
const stale = 5 * minute

// Why an alert was resolved.
const (
	cleared     = "cleared"
	moment      = "moment"
	ruleChanged = "rule_changed"
	noData      = "no_data"
)

// call is one Step or Advance.
type call struct {
	e   *Engine
	s   *State
	key fleet.VehicleKey
	t   *fleet.Traits
	out *fleet.Entities
	at  fleet.Millis

	went fleet.Millis // When a vehicle drove off that idled until this call; 0 if it did not.
	near fleet.Place  // The place of the input, or the last one before it.
}

// applies says whether a version of a rule is there for the vehicle at the time of the call.
func (c *call) applies(r *rule) bool { return r.current(c.at) && r.scoped(c.key.Vehicle, c.t) }

// insert makes room for an instance and returns it; there is none of its name yet.
func (c *call) insert(i int, r *rule, fence fleet.FenceID, subject string) *Found {
	c.s.Found = slices.Insert(c.s.Found, i, Found{
		Rule: r.ID, Fence: fence, Subject: subject, Revision: r.Revision,
		What: r.Kind, Severity: r.Severity, Threshold: r.threshold,
	})
	return &c.s.Found[i]
}

// judge tells an instance how its condition stands: it holds, it is clearly over, or, with neither, it is in between,
// which ends what is pending and lets what is raised go on. since is when it began, if that is now. value is NaN for a
// kind without values.
func (c *call) judge(r *rule, fence fleet.FenceID, since fleet.Millis, value float64, holds, over bool) {
	i, found := c.s.find(r.ID, fence, r.subject)
	if !r.lasting && holds && !r.hours.holds(c.at) {
		holds, over = false, true
	}
	if !found {
		if !holds || !c.applies(r) {
			return
		}
		c.begin(c.insert(i, r, fence, r.subject), r, since)
	}
	f := &c.s.Found[i]
	switch {
	case !holds && f.Phase == Pending:
		f.Phase = Cooling // and swept, if there is nothing to cool down from
	case !holds && f.Phase == Raised && over:
		c.resolve(f, c.at, cleared)
	case !holds && f.Phase == Raised:
		f.Seen = c.at
	case !holds:
	case f.Phase == Raised:
		f.Seen = c.at
		c.measure(f, r, value)
		if r.step > 0 && math.Abs(f.Peak-f.PeakTold) >= r.step {
			c.emit(f, f.Seen, "")
		}
	default:
		if f.Phase != Pending || !r.lasting && c.at-f.Seen >= stale {
			if !r.lasting && c.at < f.Cool {
				return
			}
			c.begin(f, r, since)
			f.Measured = false
		}
		f.Seen = c.at
		c.measure(f, r, value)
		if f.Due != 0 && f.Due <= c.at {
			c.raise(f, r, c.at)
		}
	}
}

// begin makes an instance pending.
func (c *call) begin(f *Found, r *rule, since fleet.Millis) {
	f.Phase, f.Since = Pending, since
	f.Placed, f.Place = c.s.Placed, c.s.Place
	from := max(since, r.From, f.Cool)
	if r.lasting {
		f.Begin, f.Due = r.due(from)
		return
	}
	if !r.hours.holds(from) {
		from = c.at
	}
	f.Begin, f.Due = from, from+r.MinDuration
}

// measure takes a value into account.
func (c *call) measure(f *Found, r *rule, value float64) {
	switch {
	case math.IsNaN(value):
	case !f.Measured:
		f.Measured, f.Value, f.Peak = true, value, value
	case r.Signal != nil:
		if r.Signal.Worse(value, f.Peak) {
			f.Peak = value
		}
	case r.low:
		f.Peak = min(f.Peak, value)
	default:
		f.Peak = max(f.Peak, value)
	}
}

// raise tells of an instance for the first time.
func (c *call) raise(f *Found, r *rule, at fleet.Millis) {
	f.Phase, f.Told, f.Until = Raised, at, 0
	if r.lasting || r.fact { // for the others the next fix will find the window closed
		f.Until = r.hours.closes(at)
	}
	c.emit(f, max(f.Seen, f.Begin), "")
}

// resolve ends what was raised.
func (c *call) resolve(f *Found, end fleet.Millis, reason string) {
	end = max(end, f.Begin)
	f.Phase, f.Cool = Cooling, end
	if r := c.e.version(f.Rule, f.Revision); r != nil {
		f.Cool += r.CoolDown
		if r.timed {
			f.Peak = max(f.Peak, float64(end-f.Since)/1000)
		}
	}
	c.emit(f, end, reason)
}

// emit appends the present version of an alert, and returns it; one with a reason is over.
func (c *call) emit(f *Found, end fleet.Millis, reason string) *fleet.Alert {
	f.PeakTold = f.Peak
	told := f.alert(c.key, end, reason)
	*c.out = append(*c.out, told)
	return told
}

func (f *Found) alert(key fleet.VehicleKey, end fleet.Millis, reason string) *fleet.Alert {
	a := &fleet.Alert{
		Head: fleet.Head{
			ID:           fleet.DerivedID(fleet.KindAlert, key, f.Begin, nameOf(f.Rule, f.Fence, f.Subject)),
			RecognisedAt: f.Told, Start: f.Begin, End: end, Open: reason == "",
		},
		Rule: f.Rule, RuleRevision: f.Revision, What: f.What, Severity: f.Severity,
		Fence: f.Fence, Subject: f.Subject, ResolvedReason: reason,
	}
	if f.Placed {
		place := f.Place
		a.Place = &place
	}
	if f.Measured {
		value, peak := f.Value, f.Peak
		a.Value, a.Peak = &value, &peak
	}
	if f.What.Unit() != "" || f.What == fleet.AlertSignal && !math.IsNaN(f.Threshold) {
		threshold := f.Threshold
		a.Threshold = &threshold
	}
	return a
}

// nameOf tells instances of one start apart: it is the rule's identity where the rule has only one.
func nameOf(rule fleet.RuleID, fence fleet.FenceID, subject string) uint64 {
	if fence == 0 && subject == "" {
		return uint64(rule)
	}
	hash := fnv.New64a()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(rule))
	binary.BigEndian.PutUint64(b[8:], uint64(fence))
	hash.Write(b[:])
	hash.Write([]byte(subject))
	return hash.Sum64()
}

// sweep forgets instances that have nothing left to tell.
func (c *call) sweep() {
	for i := range c.s.Found {
		if c.idle(&c.s.Found[i]) {
			c.s.Found = slices.DeleteFunc(c.s.Found, func(f Found) bool { return c.idle(&f) })
			return
		}
	}
}

// idle says whether an instance may be forgotten. One that a fact still holds for is not: it says from when on that
// fact may be told of again.
func (c *call) idle(f *Found) bool {
	if f.Phase != Cooling || f.Cool > c.at {
		return false
	}
	if r := c.e.version(f.Rule, f.Revision); r != nil && r.fact {
		holds, _ := c.holds(r, f)
		return !holds
	}
	return true
}
