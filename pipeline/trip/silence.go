package trip

import (
	"slices"

	"github.com/motorpool/fleet"
)

// Rhythm is how often the vehicle's devices report while it moves, learnt from its recent fixes.
type Rhythm struct {
	// The times between fixes of the newest legs that were driven, in turn; 0 where there is none yet.
	Spans   [7]fleet.Millis
	Next    uint8        // Which of the spans is the oldest.
	Silence fleet.Millis // What follows from the spans; 0 until there are enough.
	Dense   bool         // All of them are as short as counts: another such teaches nothing.
}

const (
	missed      = 3 // silence is so many intervals of the tracker
	enoughSpans = 3 // that an interval is learnt from
	nearby      = 5 // times StartDistance: so far a vehicle that was found on the move has come from its stop
	longest     = 4 // times Split: no trip goes on across a longer silence
)

// learn takes a leg into account, if it was driven. Spans are bounded on both sides, so that legs of a tracker that
// reports often all count alike, and the median is found again only when it may be another.
func (c *Config) learn(s *State, in *input) {
	r, span := &s.Rhythm, in.at-in.since
	if r.Dense && span*missed <= c.NoData || in.leap || in.distance <= c.noise(in) || !in.far(in.distance, c.StartSpeed) {
		return
	}
	span = min(max(span, c.NoData/missed), c.Split/missed)
	oldest := r.Spans[r.Next]
	r.Spans[r.Next] = span
	r.Next = (r.Next + 1) % uint8(len(r.Spans))
	if span == oldest {
		return
	}
	all := r.Spans
	slices.Sort(all[:])
	known := all[:]
	for len(known) > 0 && known[0] == 0 {
		known = known[1:]
	}
	if len(known) >= enoughSpans {
		r.Silence = missed * known[(len(known)-1)/2]
	}
	r.Dense = all[0] > 0 && all[len(all)-1]*missed <= c.NoData
}

// silence is how long nothing must be heard for nothing to be known: NoData, or what the tracker's own
// interval makes of it.
func (c *Config) silence(s *State) fleet.Millis {
	if !c.Learn || s.Rhythm.Silence <= c.NoData {
		return c.NoData
	}
	return min(s.Rhythm.Silence, c.Split)
}

// far says whether the way from the fix before was driven at a speed, on average.
func (in *input) far(way, speed float64) bool { return way*1000 >= speed*float64(in.at-in.since) }

// way is how far the vehicle has gone since the fix before, at least: straight on, or what its odometer rose by if both
// fixes have it and that is more. Nobody drives a leap.
func (s *State) way(in *input) float64 {
	way := max(0, in.distance-s.Ahead) // what the wheels did until then is counted
	if in.leap {
		way = 0
	}
	if m := s.Last.Mileage; m.At == s.Last.At && m.At != 0 && in.mileage.At != 0 && s.Last.Device == in.device {
		way = max(way, in.mileage.Value-m.Value)
	}
	return way
}

// paused says whether the vehicle stood between the fix before and this one: for so long nobody walks as slowly.
func (c *Config) paused(s *State, in *input) bool {
	span := in.at - in.since
	return span > c.StopAfter && (in.gap || span >= 2*c.StopAfter) && !in.leap && !in.far(s.way(in), c.StartSpeed)
}

// rest makes a halt of a pause. Where it had halted or was on probation, or is found on the move, it stood at the fix
// before, and the little way that it has gone since comes after the halt. Otherwise it went that way first, and stood
// where it is found.
func (c *Config) rest(s *State, in *input) {
	d := &s.Drive
	if s.Halt.On && !s.Halt.Stood && s.Halt.Start == s.Last.At {
		s.leave(0) // it only did not say that it moves
	}
	switch {
	case s.Halt.On:
	case in.says == moves || in.says == creeps || s.Phase != OnTrip:
		s.haltAtLast()
	default:
		if way := s.way(in); way > c.noise(in) {
			s.across(in, way)
			d.To, in.distance = in.place, 0
		}
		s.haltAtLast()
	}
	s.Halt.Stood, s.Halt.Out = true, false
	if in.distance <= c.radius(in) {
		s.Halt.Fixes++
		s.Halt.Idle += s.EngineOn
	}
}

// bridge takes a fix after a silence inside a drive. It says whether the vehicle stands where it stood before;
// otherwise it has driven there unseen.
func (c *Config) bridge(s *State, in *input) bool {
	d, way := &s.Drive, s.way(in)
	if max(way, in.distance) <= c.radius(in) {
		if !s.Halt.On {
			s.haltAtLast()
		}
		s.Halt.Stood, s.Halt.Out = true, false
		s.Halt.Fixes++
		s.Halt.Idle += s.EngineOn
		return true
	}
	if s.Halt.On {
		s.leave(s.Halt.idle())
	}
	if way > 0 {
		s.across(in, way)
		d.Unrecorded += in.at - in.since
	}
	s.reach(in)
	if in.says == stands || in.says == unknown {
		s.halt(in)
		s.Halt.Stood = in.says == stands
	}
	return false
}

// across makes the distance longer by a way that nobody saw. While the place stands still, the wheels have
// told of it, too.
func (s *State) across(in *input, way float64) {
	s.Drive.Distance += way
	if in.gap {
		s.Drive.Estimated += way
	}
	if in.still {
		s.Ahead += way
	}
}

// Unseen is a way that nobody saw, before a drive on probation.
type Unseen struct {
	On         bool
	Gap        bool // It was a silence, not only a slow leg.
	Near       bool // The vehicle stood nearly all the time: the way belongs to the trip that the drive may become.
	NewDevice  bool // It was found by another device.
	Since      fleet.Millis
	From       fleet.Place
	Way        float64
	Begin, End Reading // Readings of the odometer.
}

// found notes that a drive on probation begins after a silence, away from where the vehicle was held to be.
func (c *Config) found(s *State, in *input, from fleet.Place) {
	way := s.way(in)
	slow := !in.leap && !in.far(way, c.StartSpeed)
	s.Drive.Before = Unseen{On: true, Gap: in.gap, NewDevice: in.device != s.Last.Device, Since: in.since,
		From: from, Way: way,
		Near: slow && way <= nearby*c.StartDistance, Begin: s.Last.Mileage, End: in.mileage}
}

// droveOn says whether a vehicle must have been under way all through a silence, judged by its speed.
func (c *Config) droveOn(s *State, in *input) bool {
	if in.leap || in.device != s.Last.Device {
		return false
	}
	span, way := in.at-in.since, s.way(in)
	if span < c.Split {
		return in.far(way, c.StartSpeed)
	}
	return span <= longest*c.Split && in.far(way, c.OnwardSpeed)
}

// resume goes on with what a silence of Split has cut, if the vehicle drove on all the same.
func (c *Config) resume(s *State, key fleet.VehicleKey, in *input, out *fleet.Entities) bool {
	if s.Phase != NoData || s.Drive.On || s.Drive.Start == 0 || !c.droveOn(s, in) {
		return false
	}
	s.Drive.On = true
	if s.Drive.Recognised != 0 {
		s.Phase = OnTrip
		*out = append(*out, s.trip(key, ""))
	}
	return true
}

// account tells of the way before the drive, which has become a trip, or a stop where joins is false.
func (s *State) account(key fleet.VehicleKey, at fleet.Millis, joins bool, out *fleet.Entities) {
	d, b := &s.Drive, s.Drive.Before
	d.Before = Unseen{}
	switch {
	case b.Way == 0:
	case b.Near && joins:
		d.From = b.From
		d.Distance += b.Way
		if b.Gap {
			d.Estimated += b.Way
		}
	case d.Start > b.Since:
		span := d.Start - b.Since
		t := &fleet.Trip{
			Head: fleet.Head{ID: fleet.DerivedID(fleet.KindTrip, key, b.Since, 1), RecognisedAt: at,
				Start: b.Since, End: d.Start},
			Device: d.Device, StartPlace: b.From, EndPlace: d.From, Distance: b.Way, Estimated: b.Way, Unrecorded: span,
			Unseen: true, MeanSpeed: b.Way * 1000 / float64(span), Fixes: 2, ClosedReason: reasonGap,
		}
		if b.Begin.At == b.Since && b.End.At != 0 {
			t.OdometerStart, t.OdometerEnd = valueOrNil(b.Begin), valueOrNil(b.End)
		}
		*out = append(*out, t)
	}
}
