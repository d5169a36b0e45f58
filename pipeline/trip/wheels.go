package trip

import (
	"github.com/motorpool/fleet"
)

// Ticks is how an odometer went on while the place stood still.
type Ticks struct {
	From  Reading // The odometer at the first fix of the place.
	Count int     // The number of fixes at which it had gone on.
}

// fineTicks is how often an odometer must have gone on for its difference to be better than the speeds.
const fineTicks = 8

// leapt says whether a fix lies too far away to have been driven to since the place last changed.
func (c *Config) leapt(s *State, in *input) bool {
	if in.distance <= c.StartDistance {
		return false
	}
	reach := s.Wheels.Reach(c.LeapSpeed)
	if from := s.Miles.From; from.At != 0 && in.mileage.At != 0 && s.Last.Device == in.device {
		reach = max(reach, in.mileage.Value-from.Value)
	}
	far := in.distance - reach
	return far > c.StartDistance && far*1000 > c.LeapSpeed*float64(in.at-in.since)
}

// wheel takes the step to a fix into account for what the wheels did since the place last changed.
func (s *State) wheel(p *fleet.Position, in *input) {
	if s.Last.At == 0 {
		return
	}
	in.still = in.place == s.lastPlace()
	in.rolled = s.Wheels.Told()
	if !in.still && s.Wheels.Since == in.since && s.Lag == 0 {
		return // it is renewed each time: the straight line is as good
	}
	ticked := in.mileage.At != 0 && in.mileage.Value != s.Last.Mileage.Value
	w := s.Wheels
	if ticked {
		w.Same = in.at
		s.Miles.Count++
	}
	w.Roll(in.since, in.at, in.speed, p.Motion == fleet.No || s.Ignition == fleet.No)
	if in.still {
		s.Wheels = w
	}
	switch {
	case s.Miles.Count >= fineTicks && s.Miles.From.At != 0 && ticked:
		in.way = in.mileage.Value - s.Miles.From.Value
	default:
		in.way = w.Told()
	}
}

// arrived ends the step to a fix.
func (s *State) arrived(in *input) {
	if in.still {
		return
	}
	s.Ahead, s.Lag = 0, 0
	if s.Wheels.Since < in.since && in.way > in.distance {
		s.Lag = in.way - in.distance
	}
	s.Wheels.Arrive(in.at, in.speed)
	s.Miles = Ticks{From: in.mileage}
}

// gone is by how much a fix makes the distance longer: by the straight line, or, where the place had stood still, by
// what the wheels did if that is not much less; in either case without what was counted while it stood.
func (s *State) gone(in *input) float64 {
	way := in.distance
	if s.agree(in.way, way) {
		way = in.way
	}
	more := max(0, way-s.Ahead)
	s.Ahead += more
	return more
}

// sets off at the fix: what the wheels did before is no part of the way.
func (s *State) sets(in *input) {
	if in.still {
		s.Ahead = max(s.Ahead, in.way)
	}
}

// agree says whether the wheels' way may be that to a place at a distance. The place is some seconds old, so that it
// may lie a little further than they went, or as much as the place before lay behind them; bends let them go further.
func (s *State) agree(way, distance float64) bool { return way > 0 && way*1.5+s.Lag >= distance }

// catchesUp says whether the place only comes to where the wheels had brought the vehicle before it stood.
func (s *State) catchesUp(in *input) bool {
	return s.Ahead > 0 && !in.still && in.says != moves && s.agree(max(in.way, s.Ahead), in.distance)
}

// unroll looks at a halt in which only the place stands still. It ends by a place that moves on, by a silence, and by a
// speed of nothing, which is another halt; it is a halt like others if its speed is no longer believed.
func (c *Config) unroll(s *State, in *input) {
	h := &s.Halt
	on := in.still && !in.gap && in.at-in.since <= c.StopAfter
	switch {
	case h.Rolling && on && (in.says == moves || in.says == creeps):
	case h.Rolling && on && in.says == unknown:
		h.Idle, h.Restless, h.Rolling = h.idle(), 0, false
	case h.Rolling:
		s.rolled(h.Start, in.rolled)
	case h.On && h.Going != 0 && in.still && in.says == stands && in.rolled-s.Ahead > rollOut:
		s.rolled(h.Going, in.rolled)
	}
}

// come ends a halt in which only the place stands still, because nothing more is heard.
func (s *State) come() {
	if s.Halt.Rolling {
		s.rolled(s.Halt.Start, s.Wheels.Told())
	}
}

// rollOut is how far the wheels must say that a vehicle went from a halt, for it to have left while its
// place stood still.
const rollOut = 25

// rolled ends a halt which from an instant on was none: it drove until the newest fix but one, as far as
// its wheels say.
func (s *State) rolled(from fleet.Millis, way float64) {
	d, h := &s.Drive, s.Halt
	idle := h.Idle
	if h.Rolling {
		idle = 0
	}
	span := s.Last.At - from
	d.Moving += span
	d.AtSpeed += span
	more := max(0, way-s.Ahead)
	d.Distance += more
	s.Ahead += more
	d.End = s.Last.At
	if s.Last.Mileage.At != 0 {
		d.EndMiles = s.Last.Mileage
	}
	if h.Stood {
		s.MovingSince = from
	}
	s.leave(idle)
}
