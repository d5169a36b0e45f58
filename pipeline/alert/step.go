package alert

import (
	"math"

	"github.com/motorpool/fleet"
)

// faultAlarms are the alarms of which rules for fault codes tell, each by its name as the subject. Those that have a
// kind of their own are among them, because such rules told of them before there were these kinds: as long as no rule
// of its own kind watches a vehicle, nobody may miss a call for help.
var faultAlarms = []string{
	"fault", "sos", "powerCut", "gpsAntennaCut", "jamming", "tampering", "removing", "fuelLeak", "temperature",
}

// repeated is the time within which an alarm or a refused odometer that comes again is the same.
const repeated = 10 * minute

// rest is how long the engine must have been off before the voltage of the battery says something of its charge.
const rest = 5 * minute

// How far a level must have recovered before its alert is over.
const (
	recoverSpeed   = 1   // m/s
	recoverBattery = 2   // percent
	recoverFuel    = 3   // percent; fuel sloshes
	recoverVoltage = 0.3 // V
)

var (
	signalBattery  = fleet.MustSignal("soc_pct")
	signalFuel     = fleet.MustSignal("fuel_level_pct")
	signalLitres   = fleet.MustSignal("fuel_level_l")
	signalVoltage  = fleet.MustSignal("battery_v")
	signalIgnition = fleet.MustSignal("ignition")
	signalRoll     = fleet.MustSignal("roll_deg")
	signalPitch    = fleet.MustSignal("pitch_deg")
	signalRoad     = fleet.MustSignal("speed_limit_mps")
)

// Step works one input in and appends to out what begins, changes or ends. Inputs come in order of time, and the
// deadlines up to an input's time have been advanced to before.
func (e *Engine) Step(s *State, key fleet.VehicleKey, t *fleet.Traits, in *Input, out *fleet.Entities) {
	c := call{e: e, s: s, key: key, t: t, out: out, at: in.At}
	s.Vehicle, s.At = key.Vehicle, max(s.At, in.At)
	s.Reached = max(s.Reached, s.At)
	if len(s.Found) > 0 {
		c.changed()
	}
	if in.Position != nil || in.Doubtful != nil || in.Signal != nil && !in.Aside {
		s.Heard = in.At
	}
	if p := in.Position; p != nil {
		s.Placed, s.Place = true, fleet.Place{Lat: p.Lat, Lng: p.Lng}
	}
	c.near = s.Place
	if !s.Placed && in.Doubtful != nil {
		c.near = fleet.Place{Lat: in.Doubtful.Lat, Lng: in.Doubtful.Lng}
	}
	c.ignition(in)
	if len(in.Moves) > 0 || len(in.Inside) > 0 || len(s.Inside) > 0 {
		s.entered(in)
	}
	moved := s.Moving
	c.motion(&in.Motion)
	if in.Position != nil {
		c.stands(in.Position)
	}

	c.alarm(in)
	if in.Position != nil {
		c.driving(in)
		c.speed(in)
		c.tow(in.Position)
	}
	if in.Signal != nil {
		c.signal(in.Signal)
		c.measured(in.Signal, in.Inside)
	}
	if len(in.Moves) > 0 {
		c.moved(in.Inside)
	}
	c.unbooked(in, moved)
	for i := range in.Moves {
		c.crossed(&in.Moves[i])
	}
	for i := range in.Stops {
		m := &in.Stops[i]
		for _, r := range c.e.stops {
			c.moment(r, 0, m.Subject(), m.At, &m.Place, math.NaN(), 0)
		}
	}
	if in.Position != nil || len(in.Moves) > 0 {
		c.curfew(in)
	}
	c.odometer(in)
	if len(s.Found) > 0 {
		c.vanished(in.At)
	}
	c.find()
	c.sweep()
}

// ignition follows the ignition, and where it went off.
func (c *call) ignition(in *Input) {
	s, told := c.s, in.Motion.Ignition
	if in.Position != nil && in.Position.Ignition != fleet.Unknown {
		told = in.Position.Ignition
	}
	if in.Signal != nil && in.Signal.Signal == signalIgnition {
		told = fleet.TriOf(in.Signal.Value > 0.5)
	}
	if told != fleet.Unknown && told != s.Ignition {
		s.Ignition, s.IgnitionAt, s.Parked = told, c.at, false
		if told == fleet.Yes {
			for _, r := range c.e.tows {
				if r.current(c.at) {
					c.judge(r, 0, c.at, math.NaN(), false, true)
				}
			}
		}
	}
	if s.Ignition == fleet.No && !s.Parked && s.Placed {
		s.Parked, s.ParkedAt = true, s.Place
	}
}

// speed judges a fix's speed. Without a speed it says nothing.
func (c *call) speed(in *Input) {
	v := in.Position.Speed
	if math.IsNaN(v) {
		return
	}
	for _, r := range c.e.speeding {
		if !r.current(c.at) {
			continue
		}
		fence, holds := fleet.FenceID(0), true
		if len(r.Fences) > 0 {
			fence, holds = c.leave(r, in.Inside)
		}
		if holds && (v > r.threshold || len(c.s.Found) > 0) {
			c.judge(r, fence, c.at, v, v > r.threshold, v <= r.threshold-recoverSpeed)
		}
	}
	for _, r := range c.e.limits {
		if !r.current(c.at) {
			continue
		}
		holds := in.SpeedLimit > 0 && r.fenced(in.LimitFence)
		c.elsewhere(r, in.LimitFence, holds)
		above := v - in.SpeedLimit
		if holds && (above > r.threshold || len(c.s.Found) > 0) {
			c.judge(r, in.LimitFence, c.at, above, above > r.threshold, above <= r.threshold-recoverSpeed)
		}
	}
}

// leave finds the first of the rule's geofences that the vehicle is inside of, and ends what was found in another.
func (c *call) leave(r *rule, inside []fleet.FenceID) (fence fleet.FenceID, holds bool) {
	fence, holds = r.within(inside)
	c.elsewhere(r, fence, holds)
	return fence, holds
}

// elsewhere ends what a rule has found in other geofences than this one.
func (c *call) elsewhere(r *rule, fence fleet.FenceID, holds bool) {
	i, _ := c.s.find(r.ID, 0, "")
	for ; i < len(c.s.Found) && c.s.Found[i].Rule == r.ID; i++ {
		f := &c.s.Found[i]
		switch {
		case holds && f.Fence == fence:
		case f.Phase == Raised:
			c.resolve(f, c.at, cleared)
		case f.Phase == Pending:
			f.Phase = Cooling
		}
	}
}

// tow judges how far the vehicle is from where its ignition went off.
func (c *call) tow(p *fleet.Position) {
	s := c.s
	if len(c.e.tows) == 0 || s.Ignition != fleet.No || !s.Parked || len(s.Found) == 0 && s.ParkedAt == s.Place {
		return
	}
	distance := fleet.Distance(s.ParkedAt.Lat, s.ParkedAt.Lng, p.Lat, p.Lng)
	noise := p.Accuracy
	if math.IsNaN(noise) {
		noise = 0
	}
	for _, r := range c.e.tows {
		if r.current(c.at) {
			c.judge(r, 0, c.at, distance, distance > r.threshold+noise, distance < r.threshold/2)
		}
	}
}

// signal judges a measurement.
func (c *call) signal(v *fleet.SignalValue) {
	s := c.s
	switch v.Signal {
	case signalBattery:
		c.level(c.e.batteries, v.Value, recoverBattery, true)
	case signalFuel:
		s.FuelPercent = true
		c.fuel(v.Value, 0)
		c.level(c.e.fuels, v.Value, recoverFuel, true)
	case signalLitres:
		if s.FuelPercent {
			break
		}
		tank := c.t.FuelCapacity
		if tank <= 0 {
			tank = usualTank
		}
		c.fuel(100*v.Value/tank, tank)
		if c.t.FuelCapacity > 0 {
			c.level(c.e.fuels, 100*v.Value/c.t.FuelCapacity, recoverFuel, true)
		}
	case signalVoltage:
		rested := s.Ignition == fleet.Unknown || s.Ignition == fleet.No && c.at-s.IgnitionAt >= rest
		c.level(c.e.voltages, v.Value, recoverVoltage, rested)
	case signalRoll:
		c.tilt(&s.Lean[0], v.Value)
	case signalPitch:
		c.tilt(&s.Lean[1], v.Value)
	case signalRoad:
		s.Driving.Road, s.Driving.RoadAt = v.Value, c.at
	}
}

// level judges a level that may be too low; a reading that does not count may end an alert but begins none.
func (c *call) level(rules []*rule, v, recovered float64, counts bool) {
	for _, r := range rules {
		if !r.current(c.at) {
			continue
		}
		if low := v < r.threshold; counts || !low {
			c.judge(r, 0, c.at, v, low, v >= r.threshold+recovered)
		}
	}
}

// unbooked judges whether the vehicle may move.
func (c *call) unbooked(in *Input, moved bool) {
	moving := in.Motion.Moving
	if len(c.e.unbooked) == 0 || !moving && !moved || moving && in.Position == nil {
		return // nothing changed, or a signal, which is no evidence of movement
	}
	since := c.at
	if !moved {
		since = min(max(in.Motion.Since, c.s.Stood, 1), c.at)
	}
	free := moving && !c.booked()
	for _, r := range c.e.unbooked {
		if r.current(c.at) {
			c.judge(r, 0, since, math.NaN(), free, !free)
		}
	}
}

// booked says whether a booking holds; one whose vehicle has not come back does, and one whose vehicle has does not.
func (c *call) booked() bool {
	for i := range c.t.Obligations {
		o := &c.t.Obligations[i]
		if o.Kind == "booking" && o.From <= c.at && (o.Open(c.at) || o.DoneAt == 0 && c.at < o.To) {
			return true
		}
	}
	return false
}

// curfew judges whether the vehicle is outside of all geofences of a rule, and since when.
func (c *call) curfew(in *Input) {
	if !c.s.Placed {
		return
	}
	for _, r := range c.e.curfews {
		if !r.current(c.at) {
			continue
		}
		outside := true
		for _, f := range in.Inside {
			outside = outside && !r.fenced(f)
		}
		since := c.at
		for i := range in.Moves {
			if m := &in.Moves[i]; m.What == fleet.MoveExit && r.fenced(m.Fence) {
				since = m.At
			}
		}
		c.judge(r, 0, since, math.NaN(), outside, !outside)
	}
}
