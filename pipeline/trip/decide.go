package trip

import "github.com/motorpool/fleet"

// decide decides whether a drive on probation is a trip or no departure, and whether a halt is a stop. found says that
// the vehicle stands where it stood before a silence.
func (c *Config) decide(s *State, key fleet.VehicleKey, in *input, found bool, out *fleet.Entities) {
	if s.Phase != OnTrip && !c.probe(s, key, in, out) {
		return
	}
	if s.Phase == OnTrip && !in.shifted && in.says == stands && c.UseIgnition && s.Ignition == fleet.No && s.reliable() {
		c.park(s, key, in.at, in.at, in, out)
		return
	}
	h := &s.Halt
	if !h.On || h.Out || in.at-h.Start < c.StopAfter || !found && in.says != stands && in.says != unknown {
		return
	}
	if s.Phase != OnTrip && c.went(s) {
		s.confirm(key, in.at, out)
	}
	away, seen := found && in.distance > c.radius(in), in.at
	if away {
		seen = in.since
	}
	if s.Phase == OnTrip {
		h.Fixes++ // the one that ends the trip begins the stop
		s.arrive(key, h.Start, seen, in.at, reasonStop, out)
	} else {
		c.giveUp(s, key, seen, in.at, out)
	}
	if in.says == moves || away { // it stood through the silence, and leaves now
		if !away {
			s.Stay.Fixes--
			s.EngineOn = 0
		}
		in.distance = s.from(in.place)
		c.stay(s, key, in, out)
	}
}

// probe decides about a drive on probation, and says whether its halt is still to be looked at.
func (c *Config) probe(s *State, key fleet.VehicleKey, in *input, out *fleet.Entities) bool {
	d := &s.Drive
	home := d.From
	if s.Phase == Stopped {
		home = s.Stay.Anchor
	}
	distance := apart(home, in.place)
	if s.Phase == Stopped && distance <= c.noise(in) && in.says != moves {
		c.giveUp(s, key, in.at, in.at, out)
		s.Stay.Anchor = home
		return false
	}
	far := distance >= c.StartDistance
	second := far && d.Far
	d.Far = far
	if !(far && in.says == moves || second || d.AtSpeed >= c.StartAfter && distance > c.noise(in)) {
		return true
	}
	if d.Before.On && d.Distance == 0 && s.Halt.On && s.Halt.Start == d.Start {
		// Nobody saw it move, and it stands: ferried, towed, or its device slept.
		moved := Stay{Start: d.Start, End: in.at, Recognised: in.at, Place: s.Halt.Place, Anchor: s.Halt.Place,
			Idle: s.Halt.idle(), Fixes: s.Halt.Fixes + d.Fixes}
		d.Before.Near = false // there is no trip to join
		s.departed(key, in.at, out)
		s.account(key, in.at, false, out)
		s.Drive, s.Halt = Drive{}, Halt{}
		s.begin(moved, out, key)
		return false
	}
	s.confirm(key, in.at, out)
	return true
}

// went says whether a drive on probation has gone far by itself, whatever was before it.
func (c *Config) went(s *State) bool {
	d := &s.Drive
	return d.Distance >= c.StartDistance && apart(d.From, d.To) >= c.StartDistance
}

// confirm makes a trip of the drive on probation.
func (s *State) confirm(key fleet.VehicleKey, at fleet.Millis, out *fleet.Entities) {
	s.departed(key, at, out)
	s.account(key, at, true, out)
	s.Phase = OnTrip
	s.Drive.Recognised = at
	s.MovingSince = max(s.MovingSince, s.Drive.Start)
	*out = append(*out, s.trip(key, ""))
}

// departed ends the stop, if there is one, and a charge, by the drive that was on probation.
func (s *State) departed(key fleet.VehicleKey, at fleet.Millis, out *fleet.Entities) {
	d := &s.Drive
	s.unplug(key, min(s.Plug.Evidence, d.Start), out)
	if s.Phase != Stopped {
		return
	}
	reason := reasonMoved
	switch {
	case d.Before.NewDevice:
		reason = reasonDevice
	case d.Before.On && !d.Before.Near:
		reason = reasonGap
	default:
		s.Stay.End = d.Start
	}
	*out = append(*out, s.stop(key, reason))
	s.Stay = Stay{}
}

// giveUp takes a drive on probation back: the vehicle only shifted a little, and stands. end is the newest fix.
func (c *Config) giveUp(s *State, key fleet.VehicleKey, end, at fleet.Millis, out *fleet.Entities) {
	if s.Phase != Stopped && s.Drive.Before.Way >= c.StartDistance {
		s.account(key, at, false, out)
	}
	d, h := s.Drive, s.Halt
	s.Drive, s.Halt = Drive{}, Halt{}
	if s.Phase == Stopped {
		s.Stay.End = end
		s.Stay.Fixes += d.Fixes + h.Fixes
		if d.Start < d.Opened {
			s.Stay.Fixes-- // the fix before was counted already
		}
		s.Stay.Idle += d.Idle + h.idle()
		if h.On {
			s.Stay.Anchor = h.Place
		}
		return
	}
	s.begin(Stay{Start: d.Start, End: end, Recognised: at, Place: h.Place, Anchor: h.Place, Idle: d.Idle + h.idle(),
		Fixes: d.Fixes + h.Fixes}, out, key)
}

// begin opens a stop.
func (s *State) begin(stay Stay, out *fleet.Entities, key fleet.VehicleKey) {
	s.Phase, s.Stay = Stopped, stay
	*out = append(*out, s.stop(key, ""))
}

// arrive ends the trip and opens the stop that its halt has become; seen is the newest fix of the stop.
func (s *State) arrive(key fleet.VehicleKey, end, seen, at fleet.Millis, reason string, out *fleet.Entities) {
	h := s.Halt
	s.Drive.End = end
	*out = append(*out, s.trip(key, reason))
	s.Drive, s.Halt, s.OffAt = Drive{}, Halt{}, 0
	s.begin(Stay{Start: end, End: max(seen, end), Recognised: at, Place: h.Place, Anchor: h.Place, Idle: h.idle(),
		Fixes: h.Fixes}, out, key)
}

// park ends the trip at the instant of a reliable ignition off. in is the fix that shows it, nil if it was a signal.
// The halt before it belongs to the trip: it stood with the engine on.
func (c *Config) park(s *State, key fleet.VehicleKey, off, at fleet.Millis, in *input, out *fleet.Entities) {
	s.come()
	d := &s.Drive
	seen, anchor, fixes := s.Last.At, d.To, 0
	if s.Halt.On {
		anchor = s.Halt.Place
		d.Fixes += s.Halt.Fixes
		d.Idle += s.Halt.idle()
	}
	if in != nil {
		seen, anchor, fixes = in.at, in.place, 1
	} else if s.Halt.On {
		d.Idle += s.EngineOn
		s.EngineOn = 0
	}
	// The fix after the ignition went off may have brought time beyond it.
	d.Idle = min(d.Idle, off-d.Start)
	d.Moving = min(d.Moving, off-d.Start-d.Idle)
	s.Halt = Halt{On: true, Stood: true, Start: off, Place: anchor, End: s.Now, Fixes: fixes}
	s.arrive(key, off, seen, at, reasonIgnition, out)
}

// cut ends what is under way because of a silence that was recognised at the instant at: a trip where the vehicle was
// last seen moving, or where it had halted, which then is a stop; a drive on probation is a trip if it had got far, and
// is taken back otherwise.
func (c *Config) cut(s *State, key fleet.VehicleKey, at fleet.Millis, reason string, out *fleet.Entities) {
	if s.Phase == OnTrip && s.OffAt != 0 {
		c.park(s, key, s.OffAt, at, nil, out)
		return
	}
	s.come()
	switch {
	case s.Phase == OnTrip:
	case s.Drive.Far && !s.Drive.Before.On, c.went(s):
		s.confirm(key, at, out)
	case s.Phase == Stopped && !s.Drive.Far, s.Phase == NoData && s.Halt.On:
		c.giveUp(s, key, s.Last.At, at, out)
		return
	default: // a place that nobody saw it go to or leave
		s.Drive.Before.Near = false
		if s.Phase == Stopped {
			s.departed(key, at, out)
			s.Phase = NoData
		}
		if s.Halt.On {
			c.giveUp(s, key, s.Last.At, at, out)
			return
		}
		if s.Drive.Before.Way >= c.StartDistance {
			s.account(key, at, false, out)
		}
		s.Drive.On = false
		return
	}
	if s.Halt.On && reason == reasonGap && !s.Halt.Stood && s.Halt.Start == s.Last.At {
		s.leave(0) // it only did not say that it moves
	}
	if s.Halt.On {
		s.Halt.Fixes++
		s.arrive(key, s.Halt.Start, s.Last.At, at, reason, out)
		return
	}
	*out = append(*out, s.trip(key, reason))
	s.Phase, s.Drive.On, s.OffAt = NoData, false, 0
}
