package route

import (
	"github.com/motorpool/fleet"
)

// tell appends the present version of a run. v is nil if its plan holds no more.
func (c *call) tell(r *Run, v *fleet.RoutePlan, reason string) {
	r.Changed = c.in.At
	*c.out = append(*c.out, c.s.run(c.key, r, v, reason))
}

// Open appends the present versions of the runs that go on.
func (p *Plans) Open(s *State, key fleet.VehicleKey, out *fleet.Entities) {
	for i := range s.Runs {
		if r, v := p.present(s, i); v != nil && r.Completed == 0 {
			*out = append(*out, s.run(key, r, v, ""))
		}
	}
}

// run makes what is told of a run.
func (s *State) run(key fleet.VehicleKey, r *Run, v *fleet.RoutePlan, reason string) *fleet.RouteRun {
	if reason == "" && r.Completed != 0 {
		reason = fleet.RunCompleted
	}
	run := &fleet.RouteRun{
		Head: fleet.Head{ID: fleet.DerivedID(fleet.KindRun, key, r.Begun, uint64(r.Plan)), RecognisedAt: r.Told,
			Start: r.Begun,
			End:   max(s.At, r.Changed, r.Begun), Open: reason == ""},
		Plan: r.Plan, Revision: r.Revision, Off: r.Off, OffSince: r.OffSince, ClosedReason: reason,
		Stops: make([]fleet.RunStop, len(r.Stops)),
	}
	if r.Completed != 0 {
		run.End = max(r.Completed, r.Begun)
	} else if reason != "" && r.OffSince != 0 {
		run.Off, run.OffSince = r.Off+r.Changed-r.OffSince, 0
	}
	for i := range r.Stops {
		x := &r.Stops[i]
		run.Stops[i] = fleet.RunStop{ID: x.ID, Arrived: x.Arrived, Left: x.Left, Passed: x.Passed, Missed: x.Missed,
			Skipped: x.Arrived == 0 && i < r.Next}
	}
	if v != nil && run.Open && s.At != 0 {
		place := s.Place
		run.Place, run.Speed = &place, s.Speed()
		s.reckon(r, v, run)
	}
	return run
}

// Speed returns the mean speed on trips of late, in m/s, within its bounds.
func (s *State) Speed() float64 {
	if s.Time < float64(speedKnown) {
		return UsualSpeed
	}
	return min(max(s.Way/s.Time*1000, slowest), fastest)
}

// reckon fills in when the vehicle will be at the stops that are still to come.
func (s *State) reckon(r *Run, v *fleet.RoutePlan, run *fleet.RouteRun) {
	at, from, driving := run.End, s.Place, fleet.Millis(0)
	if r.Next > 0 {
		if x := &r.Stops[r.Next-1]; x.Inside {
			plan := &v.Stops[r.Next-1]
			at = max(at, max(x.Arrived, plan.ArriveFrom)+plan.Stay)
		}
	}
	for i := r.Next; i < len(r.Stops); i++ {
		plan := &v.Stops[i]
		if plan.Fence != 0 && plan.Place == (fleet.Place{}) {
			return // nobody said where its geofence is
		}
		leg := s.leg(&from, plan)
		at, driving = at+leg, driving+leg
		run.Stops[i].ETA = at
		run.Stops[i].ETAError = ErrorBase + fleet.Millis(ErrorPart*float64(driving))
		at = max(at, plan.ArriveFrom) + plan.Stay
	}
}

// leg returns how long the way to a stop takes, and goes there.
func (s *State) leg(from *fleet.Place, to *fleet.PlanStop) fleet.Millis {
	straight := fleet.Distance(from.Lat, from.Lng, to.Place.Lat, to.Place.Lng)
	*from = to.Place
	return fleet.Millis(max(straight-to.Radius, 0) * Detour / s.Speed() * 1000)
}
