package trip

import (
	"math"

	"github.com/motorpool/fleet"
)

var (
	ignition    = fleet.MustSignal("ignition")
	motion      = fleet.MustSignal("motion")
	engineRpm   = fleet.MustSignal("engine_rpm")
	ecuSpeed    = fleet.MustSignal("ecu_speed_mps")
	soc         = fleet.MustSignal("soc_pct")
	charging    = fleet.MustSignal("charging")
	chargePower = fleet.MustSignal("charge_power_kw")
	energyUsed  = fleet.MustSignal("energy_used_kwh")
	fuelUsed    = fleet.MustSignal("fuel_used_l")
	fuelLevel   = fleet.MustSignal("fuel_level_l")
)

// A counter of fuel or energy that rises by more than this cannot be that of the same engine: litres or kilowatt-hours
// at any time, and as many an hour.
const (
	fuelStep, fuelRate     = 20, 500
	energyStep, energyRate = 20, 1000
)

// Signal takes a measurement into account, which is not older than the newest input. Signals that say nothing of trips
// or charging change nothing.
func (c *Config) Signal(s *State, key fleet.VehicleKey, at fleet.Millis, v fleet.SignalValue, out *fleet.Entities) {
	switch v.Signal {
	case ignition, motion, engineRpm, ecuSpeed, soc, charging, chargePower, energyUsed, fuelUsed, fuelLevel:
	default:
		return
	}
	if math.IsNaN(v.Value) {
		return
	}
	at = max(at, s.Heard)
	c.Advance(s, key, at, out)
	c.hear(s, at)
	reading := Reading{v.Value, at}
	switch v.Signal {
	case ignition:
		c.ignite(s, at, fleet.TriOf(v.Value != 0))
		if c.UseIgnition && v.Value == 0 && s.Phase == OnTrip && s.reliable() && s.OffAt == 0 {
			if s.Halt.On && !s.Halt.Rolling {
				c.park(s, key, at, at, nil, out)
			} else {
				s.OffAt = at
			}
		}
	case motion:
		s.Flag = reading
	case engineRpm:
		s.Rpm = reading
		c.engine(s, at)
	case ecuSpeed:
		s.EcuSpeed = reading
	case fuelUsed:
		count(&s.Fuel, &s.Now.FuelUsed, reading, fuelStep, fuelRate)
	case energyUsed:
		count(&s.Energy, &s.Now.EnergyUsed, reading, energyStep, energyRate)
	case fuelLevel:
		s.Now.FuelLevel = reading
	case soc:
		c.charge(s, key, at, v.Value, out)
		s.Now.Soc = reading
	case charging:
		c.plugged(s, key, reading, out)
		c.engine(s, at)
	case chargePower:
		c.power(s, key, reading, out)
	}
	s.sync(at)
	c.plug(s, key, at, out)
}

// sync lets a measurement of the same instant as a fix count as known at that fix: it is of the same report.
func (s *State) sync(at fleet.Millis) {
	if at == s.Last.At {
		s.Last.Meters = s.Now
	}
	if s.Drive.On && at == s.Drive.Start {
		s.Drive.Begin = s.Now
	}
	if s.Halt.On && at == s.Halt.Start {
		s.Halt.End = s.Now
	}
}

// count adds what a counter has risen by since its newest reading to the total.
func count(newest, total *Reading, r Reading, step, rate float64) {
	rise := r.Value - newest.Value
	if newest.At != 0 && rise > 0 && rise <= step+rate*float64(r.At-newest.At)/3_600_000 {
		total.Value += rise
	}
	*newest = r
	total.At = r.At
}

// hear notes that there was an input, and how long the engine has been on until then.
func (c *Config) hear(s *State, at fleet.Millis) {
	if s.EngineFrom != 0 {
		if at-s.Heard <= c.silence(s) {
			s.EngineOn += at - s.Heard
		}
		if s.Silent {
			s.EngineFrom = at
		}
	}
	c.engine(s, at)
	s.Heard, s.Silent = at, false
}

// ignite notes what the ignition is.
func (c *Config) ignite(s *State, at fleet.Millis, now fleet.Tri) {
	s.Ignition = now
	if now == fleet.Yes {
		s.OffAt = 0
	} else {
		s.Rpm = Reading{}
	}
	c.engine(s, at)
}

// engine finds out whether the engine is on: the ignition or the engine speed says so, and it is not being charged.
func (c *Config) engine(s *State, at fleet.Millis) {
	turns := s.Rpm.Value > 0 && at-s.Rpm.At <= c.NoData
	on := (s.Ignition == fleet.Yes || turns) && !(s.Plug.Signal.Value != 0)
	switch {
	case !on:
		s.EngineFrom = 0
	case s.EngineFrom == 0:
		s.EngineFrom = at
	}
}
