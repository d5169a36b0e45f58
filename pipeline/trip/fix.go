package trip

import (
	"math"

	"github.com/motorpool/fleet"
)

// evidence is what a fix alone says of movement.
type evidence uint8

const (
	unknown evidence = iota // only displacement can tell
	stands
	creeps // between the two speeds: as before
	moves
)

// ecuAge is how old a speed of the vehicle may be to stand in for that of a fix, and flagAge likewise for
// a motion flag.
const (
	ecuAge  = 10_000
	flagAge = 60_000
)

// input is a fix with what was concluded from it.
type input struct {
	at       fleet.Millis
	device   fleet.DeviceID
	place    fleet.Place
	accuracy float64 // In metres; 0 for unknown.
	speed    float64 // In m/s; NaN for unknown.
	mileage  Reading
	says     evidence
	since    fleet.Millis // The time of the fix before.
	gap      bool         // Nobody knows what was in between: the fix before is longer than a silence ago, or a leap away.
	leap     bool         // It is too far away to have been driven.
	distance float64      // The distance from where the vehicle was held to be.
	still    bool         // The place is that of the fix before.
	// way is how far, in metres, the wheels went since the place last changed, which stood still meanwhile; 0
	// if nobody knows.
	way     float64
	rolled  float64 // How far, in metres, the wheels had gone until the fix before.
	shifted bool    // The place stood still meanwhile, and has gone a little way all the same.
}

// Fix takes a trusted fix into account, whose time is above that of every fix before. mileage is the odometer that
// came with it, in metres and made monotonic, NaN if none did. What begins, changes or ends by it is appended to out.
func (c *Config) Fix(s *State, key fleet.VehicleKey, p *fleet.Position, mileage float64, out *fleet.Entities) {
	if p.FixTime <= s.Last.At {
		return
	}
	c.Advance(s, key, p.FixTime, out)
	c.hear(s, p.FixTime)
	in := input{
		at: p.FixTime, device: p.Device, place: fleet.Place{Lat: p.Lat, Lng: p.Lng}, speed: p.Speed,
		since: s.Last.At, gap: s.Last.At != 0 && p.FixTime-s.Last.At > c.silence(s),
	}
	if p.Accuracy > 0 {
		in.accuracy = p.Accuracy
	}
	if !math.IsNaN(mileage) {
		in.mileage = Reading{mileage, p.FixTime}
	}
	if math.IsNaN(in.speed) && s.EcuSpeed.At != 0 && p.FixTime-s.EcuSpeed.At <= ecuAge {
		in.speed = s.EcuSpeed.Value
	}
	if s.Last.At != 0 {
		in.distance = s.from(in.place)
		in.leap = c.leapt(s, &in)
		in.gap = in.gap || in.leap
		c.learn(s, &in)
	}
	s.wheel(p, &in)
	c.judge(s, p, &in)

	if in.gap && s.Last.Device != in.device && s.Drive.On {
		c.cut(s, key, in.at, reasonDevice, out)
		if s.Last.At != 0 {
			in.distance = s.from(in.place)
		}
	}
	switch {
	case s.Drive.On:
		c.drive(s, key, &in, out)
	case s.Phase == Stopped:
		c.stay(s, key, &in, out)
	case c.resume(s, key, &in, out):
		c.drive(s, key, &in, out)
	case s.Last.At != 0 && in.distance <= c.radius(&in):
		// Found where a silence had ended its trip: it has stood there.
		s.Drive = Drive{}
		s.begin(Stay{Start: s.Last.At, End: in.at, Recognised: in.at, Place: s.lastPlace(), Anchor: s.lastPlace(), Fixes: 1},
			out, key)
		c.stay(s, key, &in, out)
	default:
		miles := s.Last.Mileage
		if in.mileage.At != 0 {
			miles = in.mileage
		}
		s.Drive = Drive{On: true, Start: in.at, Opened: in.at, End: in.at, Device: in.device, From: in.place,
			To: in.place, Fixes: 1,
			Begin: s.Now, BeginMiles: miles, EndMiles: miles}
		if s.Last.At != 0 {
			c.found(s, &in, s.lastPlace())
		}
		s.Drive.note(in.speed)
		if in.says == stands || in.says == unknown {
			s.halt(&in)
		}
	}
	s.EngineOn = 0
	s.arrived(&in)
	last := &s.Last
	last.At, last.Device, last.Lat, last.Lng, last.Meters = in.at, in.device, in.place.Lat, in.place.Lng, s.Now
	if in.mileage.At != 0 {
		last.Mileage = in.mileage
	}
	c.plug(s, key, in.at, out)
}

// from is how far a place is from where the vehicle is held to be.
func (s *State) from(place fleet.Place) float64 {
	at := s.lastPlace()
	switch {
	case s.Halt.On:
		at = s.Halt.Place
	case s.Drive.On:
		at = s.Drive.To
	case s.Phase == Stopped:
		at = s.Stay.Anchor
	}
	return apart(at, place)
}

func (s *State) lastPlace() fleet.Place { return fleet.Place{Lat: s.Last.Lat, Lng: s.Last.Lng} }

// apart is the distance between two places, which most often are one.
func apart(a, b fleet.Place) float64 {
	if a == b {
		return 0
	}
	return fleet.Distance(a.Lat, a.Lng, b.Lat, b.Lng)
}

// noise is how far apart two fixes of one place may lie.
func (c *Config) noise(in *input) float64 { return max(c.Noise, in.accuracy) }

// radius is how far fixes without speed may scatter around a vehicle that stands.
func (c *Config) radius(in *input) float64 { return max(c.HaltRadius, 2*in.accuracy) }

// judge concludes what the fix alone says, and what it says of the ignition's honesty.
func (c *Config) judge(s *State, p *fleet.Position, in *input) {
	if p.Ignition != fleet.Unknown {
		c.ignite(s, in.at, p.Ignition)
	}
	fast := in.speed >= c.StartSpeed // false for NaN
	switch {
	case fast && s.Ignition == fleet.Yes:
		s.DroveOn = true
	case fast && s.Ignition == fleet.No && s.OffAt == 0 && in.distance >= c.StartDistance/2:
		s.Cycles = 0 // it moves with the ignition off: towed, or the wire tells nothing
	case !fast && s.Ignition == fleet.No && s.DroveOn:
		s.DroveOn = false
		s.Cycles = min(s.Cycles+1, 2)
	}
	motion := p.Motion
	if motion == fleet.Unknown && s.Flag.At != 0 && in.at-s.Flag.At <= flagAge {
		motion = fleet.TriOf(s.Flag.Value != 0)
	}
	switch {
	case c.UseIgnition && s.Ignition == fleet.No && s.reliable():
		in.says = stands
	case in.still && in.speed >= c.StopSpeed && s.Wheels.Stuck(in.at):
		in.says = unknown // a speed that stands still with the place says nothing
	case fast:
		in.says = moves
	case in.speed < c.StopSpeed:
		in.says = stands
	case in.speed >= c.StopSpeed:
		in.says = creeps
	case motion == fleet.No:
		in.says = stands
	default:
		in.says = unknown
	}
}

// stay takes a fix in phase Stopped with no departure on probation: the vehicle still stands, or it may have left.
func (c *Config) stay(s *State, key fleet.VehicleKey, in *input, out *fleet.Entities) {
	s.Stay.Idle += s.EngineOn
	if s.catchesUp(in) {
		s.Stay.Place, s.Stay.Anchor, in.distance = in.place, in.place, 0
	}
	away := in.distance > c.noise(in)
	far := in.distance >= c.StartDistance
	if !(in.says == moves || far || away && in.says != stands) {
		s.Stay.Fixes++
		s.Stay.End = in.at
		return
	}
	s.Drive = Drive{On: true, Start: in.at, Opened: in.at, End: in.at, Device: in.device, From: s.Stay.Anchor,
		To: in.place, Fixes: 1,
		Begin: s.Now, BeginMiles: s.Last.Mileage, EndMiles: s.Last.Mileage}
	d := &s.Drive
	span := in.at - in.since
	switch {
	case in.gap && far && c.droveOn(s, in) && (span < c.Split || in.says != stands):
		s.Stay.Idle -= s.EngineOn
		way := s.way(in)
		d.Start, d.Begin, d.Unrecorded, d.Distance, d.Estimated, d.Fixes = in.since, s.Last.Meters, span, way, way, 2
	case far && (in.gap || in.says != moves && !in.far(in.distance, c.StartSpeed)):
		s.Stay.Idle -= s.EngineOn // nobody knows where
		d.From = in.place
		c.found(s, in, s.Stay.Anchor)
	case in.gap && away:
		d.Distance, d.Estimated = in.distance, in.distance
	case in.gap:
		d.From = in.place
	case away && in.distance*1000 >= c.StartSpeed*float64(span):
		// The leg was driven, so the movement began at the fix before.
		left := c.left(s, in)
		span = in.at - left
		s.Stay.Idle = min(s.Stay.Idle-s.EngineOn, left-s.Stay.Start)
		d.Start, d.Begin, d.Moving, d.Distance, d.Fixes = left, s.Last.Meters, span, in.distance, 2
		if in.says == moves {
			d.AtSpeed = span
		}
	default:
		d.Distance = in.distance
		s.sets(in)
	}
	if in.mileage.At != 0 {
		d.EndMiles = in.mileage
		if d.Start == in.at {
			d.BeginMiles = in.mileage
		}
	}
	if in.says == moves || in.says == creeps {
		d.note(in.speed)
	} else if in.says == stands {
		s.halt(in)
	}
	c.decide(s, key, in, false, out)
}
