package trip

import "github.com/motorpool/fleet"

// freshness is how old a level may be to stand for the level at an instant.
const freshness = 3_600_000

// asOf says whether a reading can stand for the value at an instant.
func asOf(r Reading, at fleet.Millis) bool { return r.At != 0 && r.At <= at && at-r.At <= freshness }

// Open appends present versions of what is open: the trip, the stop, the charge.
func (c *Config) Open(s *State, key fleet.VehicleKey, out *fleet.Entities) {
	switch s.Phase {
	case Stopped:
		*out = append(*out, s.stop(key, ""))
	case OnTrip:
		*out = append(*out, s.trip(key, ""))
	}
	if s.Plug.Open {
		*out = append(*out, s.session(key))
	}
}

// trip returns the trip, open if it has no reason to be closed. An open one includes its halt so far.
func (s *State) trip(key fleet.VehicleKey, reason string) *fleet.Trip {
	d, h := &s.Drive, &s.Halt
	t := &fleet.Trip{
		Head: fleet.Head{ID: fleet.DerivedID(fleet.KindTrip, key, d.Start, 0), RecognisedAt: d.Recognised,
			Start: d.Start, End: d.End, Open: reason == ""},
		Device: d.Device, StartPlace: d.From, EndPlace: d.To, Distance: d.Distance, Estimated: d.Estimated,
		Unrecorded: d.Unrecorded, Unseen: reason != "" && d.Estimated > 0 && d.Estimated == d.Distance && d.Fixes <= 2,
		Moving: d.Moving, Idle: d.Idle, MaxSpeed: d.MaxSpeed, Fixes: d.Fixes, ClosedReason: reason,
		OdometerStart: valueOrNil(d.BeginMiles), OdometerEnd: valueOrNil(d.EndMiles),
	}
	end := s.Last.Meters
	switch {
	case reason == "":
		t.End = max(d.End, s.Last.At)
		t.Idle += h.idle()
		t.Fixes += h.Fixes
		end = s.Now
	case h.On:
		end = h.End
	}
	switch {
	case d.Moving > 0:
		t.MeanSpeed = (d.Distance - d.Estimated) * 1000 / float64(d.Moving)
	case d.Unrecorded > 0:
		t.MeanSpeed = d.Estimated * 1000 / float64(d.Unrecorded)
	}
	t.FuelUsed = used(d.Begin.FuelUsed, end.FuelUsed, d.Start)
	if drop := d.Begin.FuelLevel.Value - end.FuelLevel.Value; t.FuelUsed == nil && drop >= 0 &&
		asOf(d.Begin.FuelLevel, d.Start) && asOf(end.FuelLevel, t.End) && end.FuelLevel.At > d.Begin.FuelLevel.At {
		t.FuelUsed = &drop
	}
	t.EnergyUsed = used(d.Begin.EnergyUsed, end.EnergyUsed, d.Start)
	if asOf(d.Begin.Soc, d.Start) {
		t.SocStart = valueOrNil(d.Begin.Soc)
	}
	if asOf(end.Soc, t.End) {
		t.SocEnd = valueOrNil(end.Soc)
	}
	return t
}

// stop returns the stop, open if it has no reason to be closed.
func (s *State) stop(key fleet.VehicleKey, reason string) *fleet.Stop {
	y := &s.Stay
	return &fleet.Stop{
		Head: fleet.Head{ID: fleet.DerivedID(fleet.KindStop, key, y.Start, 0), RecognisedAt: y.Recognised,
			Start: y.Start, End: y.End, Open: reason == ""},
		Place: y.Place, Idle: y.Idle, Fixes: y.Fixes, ClosedReason: reason,
	}
}

// session returns the charge.
func (s *State) session(key fleet.VehicleKey) *fleet.ChargingSession {
	p := &s.Plug
	charge := &fleet.ChargingSession{
		Head: fleet.Head{ID: fleet.DerivedID(fleet.KindCharging, key, p.Start, 0), RecognisedAt: p.Recognised,
			Start: p.Start, End: p.Evidence, Open: p.Open},
		SocStart: valueOrNil(p.SocStart), SocEnd: valueOrNil(p.SocEnd), Estimated: p.Estimated,
	}
	if p.HasPlace {
		place := p.Place
		charge.Place = &place
	}
	if p.Powered {
		energy, peak := p.Energy, p.Peak
		charge.Energy, charge.PeakPower = &energy, &peak
	}
	return charge
}

// valueOrNil returns the value of a reading, nil if there was none.
func valueOrNil(r Reading) *float64 {
	if r.At == 0 {
		return nil
	}
	value := r.Value
	return &value
}

// used is the difference of a total between two instants, nil if the total was not told in between, or only once.
func used(begin, end Reading, start fleet.Millis) *float64 {
	if end.At <= start || begin.At == 0 && end.Value == 0 {
		return nil
	}
	value := end.Value - begin.Value
	return &value
}
