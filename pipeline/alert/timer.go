package alert

import (
	"slices"

	"github.com/motorpool/fleet"
)

// Wake returns the earliest time at which Advance would do something if nothing arrives, or 0 if never. It may lie
// before the newest input, if a rule or an obligation has become known since.
func (e *Engine) Wake(s *State, t *fleet.Traits) fleet.Millis {
	if s.Vehicle == 0 {
		return 0
	}
	c := call{e: e, s: s, key: fleet.VehicleKey{Vehicle: s.Vehicle}, t: t}
	return c.wake()
}

func (c *call) wake() fleet.Millis {
	wake := c.s.Driving.wake()
	for i := range c.s.Found {
		wake = earlier(wake, c.deadline(&c.s.Found[i]))
	}
	for _, r := range c.e.facts {
		if r.To != 0 && r.To <= c.s.Reached || c.nothing(r, wake) {
			continue
		}
		c.facts(r, wake, func(x fact) {
			if _, due := c.due(r, &x); due != 0 && (wake == 0 || due < wake) && r.scoped(c.key.Vehicle, c.t) {
				wake = due
			}
		})
	}
	return wake
}

// walking is the speed from which on a vehicle does not stand, in m/s.
const walking = 5 * fleet.MetresPerKmh

// earlier returns the earlier of two times, of which 0 is never.
func earlier(a, b fleet.Millis) fleet.Millis {
	if b != 0 && (a == 0 || b < a) {
		return b
	}
	return a
}

// deadline returns when something happens to an instance if nothing arrives, or 0 if never.
func (c *call) deadline(f *Found) fleet.Millis {
	r := c.e.version(f.Rule, f.Revision)
	switch f.Phase {
	case Pending:
		if r != nil && r.lasting && f.Due != 0 && (r.To == 0 || f.Due < r.To) && r.scoped(c.key.Vehicle, c.t) {
			return f.Due
		}
	case Raised:
		if r == nil || !r.scoped(c.key.Vehicle, c.t) {
			return max(c.s.At, f.Told)
		}
		wake := earlier(r.To, f.Until)
		if r.fact {
			holds, over := c.holds(r, f)
			if !holds {
				return max(c.s.At, f.Told)
			}
			wake = earlier(wake, over)
		}
		if !r.lasting && !r.fact {
			wake = earlier(wake, f.Seen+stale)
		}
		return wake
	}
	return 0
}

// Advance says that time has come to an instant without a further input up to it, and that the vehicle moves as m says
// then. Deadlines up to the instant do what they do, each at its own time.
func (e *Engine) Advance(s *State, key fleet.VehicleKey, t *fleet.Traits, to fleet.Millis, m fleet.Motion,
	out *fleet.Entities) {
	if s.Vehicle == 0 {
		return
	}
	c := call{e: e, s: s, key: key, t: t, out: out}
	c.fire(to - 1)
	c.at = to
	if s.Moving && !m.Moving {
		for i := range s.Found {
			switch f := &s.Found[i]; {
			case f.What != fleet.AlertUnbookedMovement:
			case f.Phase == Raised:
				c.resolve(f, f.Seen, noData) // or a fix would have told
			case f.Phase == Pending:
				f.Phase = Cooling
			}
		}
	}
	idle := s.IdleFrom != 0
	c.motion(&m)
	if idle && s.IdleFrom == 0 {
		c.vanished(to)
	}
	c.fire(to)
}

// motion takes over what the rules must know of how the vehicle moves.
func (c *call) motion(m *fleet.Motion) {
	s := c.s
	if s.Moving && !m.Moving {
		s.Stood = c.at
	}
	s.Moving = m.Moving
	switch {
	case m.Idling:
		s.IdleFrom = max(m.IdleFrom, s.IdleOver, 1)
	case s.IdleFrom != 0:
		if m.Moving {
			c.went = min(max(m.Since, s.IdleSeen), c.at)
		}
		s.IdleFrom, s.IdleOver = 0, c.at
	}
}

// stands takes a fix that says that the vehicle stands where it idles. A speed of its own says that it does not.
func (c *call) stands(p *fleet.Position) {
	if c.s.IdleFrom != 0 && !(p.Speed >= walking) {
		c.s.IdleSeen = c.at
	}
}

// idles says whether the vehicle is known to idle: by fixes that stand, one of them after it began. A single one does
// not say that it stays.
func (s *State) idles() bool { return s.IdleFrom != 0 && s.IdleSeen > s.IdleFrom }

// fire works off the deadlines up to an instant.
func (c *call) fire(to fleet.Millis) {
	for {
		at := c.wake()
		if at == 0 || at > to {
			return
		}
		c.at = at
		c.s.Reached = max(c.s.Reached, at)
		c.s.Driving.silent(c)
		for i := range c.s.Found {
			f := &c.s.Found[i]
			if at := c.deadline(f); at != 0 && at <= c.at {
				c.expire(f)
			}
		}
		c.find()
	}
}

// expire does what is to be done at an instance's deadline.
func (c *call) expire(f *Found) {
	r := c.e.version(f.Rule, f.Revision)
	switch {
	case f.Phase == Pending:
		c.raise(f, r, f.Due)
	case r == nil || !r.scoped(c.key.Vehicle, c.t):
		c.resolve(f, max(c.s.At, f.Told), ruleChanged)
	case r.To != 0 && r.To <= c.at:
		c.resolve(f, r.To, ruleChanged)
	case f.Until != 0 && f.Until <= c.at:
		c.resolve(f, f.Until, cleared)
		if r.lasting { // the condition goes on: the next window may find it again
			c.begin(f, r, f.Since)
		}
	case r.fact:
		_, over := c.holds(r, f)
		if over == 0 {
			over = c.s.At
		}
		c.resolve(f, max(over, f.Told), cleared)
	default:
		c.resolve(f, f.Seen, noData)
	}
}

// changed ends instances whose rule has changed, or is about the vehicle no more, by the time of the call.
func (c *call) changed() {
	gone := false
	for i := range c.s.Found {
		f := &c.s.Found[i]
		r := c.e.version(f.Rule, f.Revision)
		end := c.at
		switch {
		case r == nil || !r.scoped(c.key.Vehicle, c.t):
		case r.To != 0 && r.To <= c.at:
			end = r.To
		default:
			continue
		}
		if f.Phase == Raised {
			c.resolve(f, end, ruleChanged)
		}
		f.Phase, gone = Idle, true
	}
	if gone {
		c.s.Found = slices.DeleteFunc(c.s.Found, func(f Found) bool { return f.Phase == Idle })
	}
}
