package fix

import (
	"math"

	"github.com/motorpool/fleet"
)

// State is what must be remembered of a vehicle to judge its next fix. The zero value is a vehicle without any fix.
type State struct {
	// Last is the live position: the newest trusted fix, with the time of its receipt where its clock was ahead of that.
	// While the vehicle is parked and its fixes drift, the place is that of the fix it was parked at and the times are
	// those of the newest drifting fix.
	Last fleet.Position

	// Newest is the newest fix time stored for the vehicle, trusted or not. A fix above it cannot be a duplicate.
	Newest fleet.Millis

	// Candidate is a jump that waits for a fix that agrees with it; its Time is 0 if there is none.
	Candidate Candidate

	// Mileage is the vehicle's odometer, made monotonic.
	Mileage Mileage

	// Wheels is how far the vehicle may be from Last, because its place stood still and its wheels did not.
	Wheels fleet.Wheels
}

// Candidate is where a vehicle seems to have jumped to.
type Candidate struct {
	Time     fleet.Millis
	Lat, Lng float64
}

// Known says whether the vehicle has a live position.
func (s *State) Known() bool { return s.Last.FixTime != 0 }

// MayBeStored says whether a fix at time t may be a duplicate, so that somebody must look whether it is stored.
func (s *State) MayBeStored(t fleet.Millis) bool { return t <= s.Newest }

// Free returns a time for a position whose clock was too far ahead to be believed: the first from a time on at which
// the vehicle has none. stored says of the times up to another whether it has one; if it has at all of these, Free
// returns a time after all that it has.
func (s *State) Free(from, to fleet.Millis, stored func(fleet.Millis) bool) fleet.Millis {
	for t := from; t <= to; t++ {
		if !s.MayBeStored(t) || !stored(t) {
			return t
		}
	}
	return max(from, s.Newest+1)
}

// Classify judges a normalised position of the vehicle whose state is s, sets the position's flags and moves the state
// forward. stored says whether the vehicle has a position at this fix time already; it matters only where MayBeStored
// holds. The only refusal is for a duplicate, which leaves the state as it was. The fix time of a position whose clock
// was too far ahead is ours, and comes from Free, so that two do not fall together.
func (c *Config) Classify(s *State, p *fleet.Position, stored bool) fleet.Refusal {
	if p.Flags&fleet.FlagFutureClock != 0 {
		if s.Last.Flags&fleet.FlagFutureClock != 0 && s.Last.DeviceTime == p.DeviceTime {
			return fleet.RefusedDuplicate
		}
	} else if stored && s.MayBeStored(p.FixTime) {
		return fleet.RefusedDuplicate
	}
	newest, now := s.Newest, s.moment(p)
	s.Newest = max(newest, p.FixTime)
	if !math.IsNaN(p.Odometer) && !c.Advance(&s.Mileage, p.FixTime, p.Odometer) {
		p.Flags |= fleet.FlagBadOdometer
	}

	before := s.Last.FixTime
	if now < p.FixTime { // one that is ahead is behind others that are
		before = newest
	}
	if s.Known() && p.FixTime <= before {
		if before-p.FixTime <= fleet.Millis(c.Reorder.Milliseconds()) {
			p.Flags |= fleet.FlagOutOfOrder
		} else {
			p.Flags |= fleet.FlagLate
		}
		return ""
	}
	if p.Flags&fleet.DoubtfulFlags != 0 { // by its own account
		return ""
	}
	if !s.Known() {
		s.trust(p, now, 0)
		return ""
	}
	distance := fleet.Distance(s.Last.Lat, s.Last.Lng, p.Lat, p.Lng)
	if c.parked(s, p, distance) {
		p.Flags |= fleet.FlagDrift
		s.hold(p, now)
		return ""
	}
	// The distance that counts is what the wheels do not account for, since the place last changed.
	span := max(now-s.Last.FixTime, p.FixTime-newest)
	if c.jumped(distance, span) && c.jumped(distance-s.Wheels.Reach(c.JumpSpeed), span) {
		agrees := c.agrees(s.Candidate, p)
		if !agrees && p.FixTime > s.Candidate.Time {
			s.Candidate = Candidate{Time: p.FixTime, Lat: p.Lat, Lng: p.Lng}
		}
		// Receivers that are wrong often are for some seconds, with fixes that agree with each other.
		if !agrees || p.FixTime-s.Candidate.Time < fleet.Millis(c.JumpConfirm.Milliseconds()) {
			p.Flags |= fleet.FlagJump
			return ""
		}
	}
	s.trust(p, now, span)
	return ""
}

// moment is the instant of which p tells where the vehicle is now: that of the fix, or of its receipt if the
// clock was ahead of ours, so that nobody whose clock is right comes behind it. It is later than the live
// position's if p is trusted.
func (s *State) moment(p *fleet.Position) fleet.Millis {
	if p.ReceivedTime == 0 || p.FixTime <= p.ReceivedTime || p.Flags&fleet.FlagFutureClock != 0 {
		return p.FixTime
	}
	return min(p.FixTime, max(p.ReceivedTime, s.Last.FixTime+1))
}

// parked says whether p is noise around the place where the vehicle stands with its ignition off since the live
// position, so that the first fix with the ignition off is the anchor. A fix at the very same coordinates is no noise:
// it says again where the vehicle is.
func (c *Config) parked(s *State, p *fleet.Position, distance float64) bool {
	if s.Last.Ignition != fleet.No || p.Ignition == fleet.Yes || distance == 0 {
		return false
	}
	noise := c.DriftRadius
	if p.Accuracy > noise { // false for NaN
		noise = p.Accuracy
	}
	return distance < noise
}

// jumped says whether a distance in metres is too far to have been driven in a span of milliseconds.
func (c *Config) jumped(distance float64, span fleet.Millis) bool {
	return distance > c.JumpDistance && distance*1000 > c.JumpSpeed*float64(span)
}

// agrees says whether p can have been driven to from where the vehicle seemed to have jumped.
func (c *Config) agrees(candidate Candidate, p *fleet.Position) bool {
	if candidate.Time == 0 || p.FixTime <= candidate.Time {
		return false
	}
	return !c.jumped(fleet.Distance(candidate.Lat, candidate.Lng, p.Lat, p.Lng), p.FixTime-candidate.Time)
}

// trust makes p the live position, of this moment, a span after the one before. An ignition that it does not tell stays
// what it was. The wheels go by the clock of the fixes: a clock that is ahead sends in an instant what took it minutes.
func (s *State) trust(p *fleet.Position, now, span fleet.Millis) {
	ignition := s.Last.Ignition
	if p.Lat != s.Last.Lat || p.Lng != s.Last.Lng || !s.Known() {
		s.Wheels.Arrive(p.FixTime, p.Speed)
	} else {
		parked := p.Ignition == fleet.No || p.Ignition == fleet.Unknown && ignition == fleet.No || p.Motion == fleet.No
		s.Wheels.Roll(p.FixTime-span, p.FixTime, p.Speed, parked)
	}
	s.Last = *p
	s.Last.FixTime = now
	if p.Ignition == fleet.Unknown {
		s.Last.Ignition = ignition
	}
	if s.Candidate.Time <= p.FixTime {
		s.Candidate = Candidate{}
	}
}

// hold keeps the live position where it is and moves its times on, so that a parked vehicle does not look silent.
func (s *State) hold(p *fleet.Position, now fleet.Millis) {
	s.Last.Device = p.Device
	s.Last.FixTime, s.Last.DeviceTime, s.Last.ReceivedTime = now, p.DeviceTime, p.ReceivedTime
	s.Last.Satellites, s.Last.Accuracy, s.Last.Motion = p.Satellites, p.Accuracy, p.Motion
	s.Last.Speed, s.Last.Alarm = p.Speed, p.Alarm
	s.Last.Flags = p.Flags &^ fleet.DoubtfulFlags
	if p.Ignition != fleet.Unknown {
		s.Last.Ignition = p.Ignition
	}
	if s.Candidate.Time <= p.FixTime {
		s.Candidate = Candidate{}
	}
}
