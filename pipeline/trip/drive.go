package trip

import "github.com/motorpool/fleet"

// drive takes a fix of a trip or of a drive on probation.
func (c *Config) drive(s *State, key fleet.VehicleKey, in *input, out *fleet.Entities) {
	found := false
	c.unroll(s, in)
	switch {
	case c.paused(s, in):
		in.shifted = in.distance > c.radius(in)
		c.rest(s, in)
		found = true
	case in.gap:
		found = c.bridge(s, in)
	case s.Halt.On:
		c.halted(s, in)
	default:
		c.roll(s, in)
	}
	if s.OffAt != 0 && s.Phase == OnTrip {
		off := s.OffAt
		s.OffAt = 0
		if in.says == stands {
			c.park(s, key, off, in.at, in, out)
			return
		}
	}
	c.decide(s, key, in, found, out)
}

// roll takes a fix of a drive that is not halted.
func (c *Config) roll(s *State, in *input) {
	d := &s.Drive
	span := in.at - in.since
	away := in.distance > c.noise(in)
	driven := in.distance*1000 >= c.StopSpeed*float64(span)
	switch {
	case in.says == moves && in.still && in.distance == 0:
		s.haltAtLast()
		s.Halt.Rolling = true
		s.Halt.Fixes++
		d.note(in.speed)
	case in.says == moves || in.says == creeps:
		d.Distance += s.gone(in)
		d.Moving += span
		if in.says == moves {
			d.AtSpeed += span
		}
		s.reach(in)
		d.note(in.speed)
	case !away && (in.says == unknown || !driven):
		// It has not left the place of the fix before, so the standing began there.
		s.haltAtLast()
		s.Halt.Stood = in.says == stands
		s.Halt.Fixes++
		s.Halt.Idle += s.EngineOn
		c.pause(s, in)
	default:
		c.pace(s, in)
		d.Distance += s.gone(in)
		if driven {
			d.Moving += span
		} else {
			d.Idle += s.EngineOn
		}
		s.reach(in)
		if in.says == stands {
			s.halt(in)
		}
	}
}

// halted takes a fix of a drive that is halted: the halt goes on, or it was left.
func (c *Config) halted(s *State, in *input) {
	h := &s.Halt
	if h.Rolling { // and still does, or unroll would have ended it
		h.Fixes++
		h.Restless += s.EngineOn
		s.Drive.note(in.speed)
		return
	}
	if s.catchesUp(in) {
		s.Drive.Distance += s.gone(in)
		s.Drive.To, h.Place, in.distance = in.place, in.place, 0
	}
	radius := c.radius(in)
	left := false
	switch in.says {
	case moves, creeps:
		left = in.distance > c.noise(in)
	case stands:
		// A fix at rest far from where it rested: it went on and halted again in between.
		left = in.distance > max(c.StartDistance/2, radius)
		h.Stood = h.Stood || !left
	default:
		span := in.at - h.Start
		brisk := !h.Stood && in.distance > c.noise(in) && in.distance*1000 >= c.StartSpeed*float64(span)
		left = brisk || h.Out && in.distance > radius
		if !left && in.distance > radius {
			h.Out, h.OutAt, h.OutLeft = true, in.at, in.place
			h.Fixes++
			return
		}
	}
	if !left {
		h.Out = false
		h.Fixes++
		if in.says == moves || in.says == creeps {
			switch {
			case h.Going != 0:
				h.Restless += s.EngineOn
			case in.distance*1000 >= c.StartSpeed*float64(in.at-in.since):
				h.Going, h.Restless = in.since, s.EngineOn
			default:
				h.Going = in.at
				h.Idle += s.EngineOn
				s.sets(in)
			}
			return
		}
		h.Idle, h.Restless, h.Going = h.idle()+s.EngineOn, 0, 0
		c.pause(s, in)
		return
	}
	c.depart(s, in)
	if in.says == stands {
		s.halt(in)
		s.Halt.Stood = true
	}
}

// depart ends the halt by a fix that lies elsewhere.
func (c *Config) depart(s *State, in *input) {
	d, h := &s.Drive, &s.Halt // which leave ends
	way, until, at := in.distance, in.since, in.at
	if h.Going != 0 {
		until = h.Going
	}
	if h.Out {
		way = apart(h.Place, h.OutLeft)
		in.distance = way + apart(h.OutLeft, in.place)
		at = h.OutAt
	}
	paused := s.pausedUntil(in)
	switch {
	case paused != 0:
		d.Moving += in.at - paused
		s.leave(h.Rested)
		s.MovingSince = paused
	case !h.Stood && way*1000 >= c.StopSpeed*float64(at-h.Start):
		d.Moving += in.at - h.Start // it was no halt, only slow, or its fixes were dense
		s.leave(0)
	default:
		d.Moving += in.at - until
		s.leave(h.Idle) // what came since Going is movement
		s.MovingSince = until
	}
	if in.says == moves {
		d.AtSpeed += in.at - until
	}
	c.pace(s, in)
	d.Distance += s.gone(in)
	s.reach(in)
	if in.says != stands {
		d.note(in.speed)
	}
}

// reach moves the drive's end to the fix.
func (s *State) reach(in *input) {
	d := &s.Drive
	d.End, d.To = in.at, in.place
	d.Fixes++
	if in.mileage.At != 0 {
		d.EndMiles = in.mileage
	}
}

// leave merges the halt into the drive.
func (s *State) leave(idle fleet.Millis) {
	s.Drive.Fixes += s.Halt.Fixes
	s.Drive.Idle += idle
	s.Halt = Halt{}
}

// halt begins a halt at the fix, which the drive has reached.
func (s *State) halt(in *input) {
	h := &s.Halt
	*h = Halt{} // and in place, as a copy takes longer than all the rest
	h.On, h.Stood, h.Start, h.Place, h.End = true, in.says == stands, in.at, in.place, s.Now
}

// haltAtLast begins a halt at the newest fix but one, which the drive has reached.
func (s *State) haltAtLast() {
	h := &s.Halt
	*h = Halt{}
	h.On, h.Start, h.Place, h.End = true, s.Last.At, s.Drive.To, s.Last.Meters
}

// note takes a speed that counts for the highest; NaN does not.
func (d *Drive) note(speed float64) {
	if speed > d.MaxSpeed {
		d.MaxSpeed = speed
	}
}
