package trip

import "github.com/motorpool/fleet"

// chargingPower is the power in kilowatts from which a battery counts as being charged.
const chargingPower = 0.5

// plugged takes what the vehicle says of being charged.
func (c *Config) plugged(s *State, key fleet.VehicleKey, r Reading, out *fleet.Entities) {
	p := &s.Plug
	switch {
	case r.Value == 0:
		if p.Open {
			c.deliver(p, Reading{p.Power.Value, r.At}) // the power was what it was last, until now
			s.unplug(key, r.At, out)
		}
		p.Signal = r
	default:
		if p.Signal.Value == 0 {
			p.Signal = Reading{1, r.At}
		}
		if p.Open {
			p.Evidence, p.Estimated = r.At, false
		}
	}
}

// deliver adds the energy up to a reading of the power: a trapezoid, if there is no gap before it.
func (c *Config) deliver(p *Charge, r Reading) {
	if p.Power.At >= p.Start && r.At-p.Power.At <= c.NoData {
		p.Energy += (max(p.Power.Value, 0) + max(r.Value, 0)) / 2 * float64(r.At-p.Power.At) / 3_600_000
	}
}

// power takes the power into the battery.
func (c *Config) power(s *State, key fleet.VehicleKey, r Reading, out *fleet.Entities) {
	p := &s.Plug
	if p.Open {
		c.deliver(p, r)
		p.Powered = true
		p.Peak = max(p.Peak, r.Value)
		if r.Value >= chargingPower || p.Signal.Value != 0 {
			p.Evidence = r.At
		} else if !p.Estimated {
			s.unplug(key, r.At, out)
		}
	}
	p.Power = r
}

// charge takes a state of charge. One that rises while the vehicle stands is charged, unless the vehicle says no.
func (c *Config) charge(s *State, key fleet.VehicleKey, at fleet.Millis, percent float64, out *fleet.Entities) {
	p := &s.Plug
	now := Reading{percent, at}
	switch {
	case p.Open && p.Estimated && percent <= p.Top.Value-c.ChargeRise/2:
		s.unplug(key, p.Evidence, out)
		p.Low = now
	case p.Open:
		if percent > p.Top.Value || p.Signal.Value != 0 {
			p.Evidence, p.SocEnd = at, now
		}
		if percent > p.Top.Value {
			p.Top = now
		}
		if p.SocStart.At == 0 && at == p.Start {
			p.SocStart = now
		}
	case !s.standing() || p.Signal.At != 0 && p.Signal.Value == 0:
		p.Low = Reading{}
	case p.Low.At == 0 || percent <= p.Low.Value:
		p.Low = now
	case percent-p.Low.Value >= c.ChargeRise:
		s.connect(key, Charge{Estimated: true, Start: max(p.Low.At, s.standsSince()), SocStart: p.Low, SocEnd: now, Top: now,
			Evidence: at, Recognised: at}, out)
	}
}

// plug follows up an input: a charge begins if the vehicle stands and is said to be charged, and ends if it moves.
func (c *Config) plug(s *State, key fleet.VehicleKey, at fleet.Millis, out *fleet.Entities) {
	p := &s.Plug
	if !s.standing() {
		if s.Phase == OnTrip {
			p.Low = Reading{}
			if p.Open {
				s.unplug(key, min(p.Evidence, s.MovingSince), out)
			}
		}
		return
	}
	if p.Open {
		return
	}
	start := fleet.Millis(0)
	switch {
	case p.Signal.Value != 0:
		start = max(p.Signal.At, s.standsSince())
	case p.Signal.At == 0 && p.Power.At == at && p.Power.Value >= chargingPower:
		start = at
	default:
		return
	}
	session := Charge{Start: start, Recognised: at, Evidence: at}
	if soc := s.Now.Soc; asOf(soc, start) {
		session.SocStart, session.SocEnd, session.Top = soc, soc, soc
	}
	if p.Power.At >= start {
		session.Powered, session.Peak = true, max(p.Power.Value, 0)
	}
	s.connect(key, session, out)
}

// connect opens a charge.
func (s *State) connect(key fleet.VehicleKey, session Charge, out *fleet.Entities) {
	session.Open, session.Signal, session.Power, session.Low = true, s.Plug.Signal, s.Plug.Power, s.Plug.Low
	if s.Last.At != 0 {
		session.HasPlace, session.Place = true, s.lastPlace()
		switch {
		case s.Halt.On:
			session.Place = s.Halt.Place
		case s.Phase == Stopped:
			session.Place = s.Stay.Anchor
		}
	}
	s.Plug = session
	*out = append(*out, s.session(key))
}

// unplug closes the charge, if one is open. What said that it was charging is forgotten: another charge needs to
// be told of anew.
func (s *State) unplug(key fleet.VehicleKey, end fleet.Millis, out *fleet.Entities) {
	if !s.Plug.Open {
		return
	}
	s.Plug.Open = false
	s.Plug.Evidence = max(s.Plug.Start, end)
	*out = append(*out, s.session(key))
	s.Plug = Charge{Power: s.Plug.Power}
}
