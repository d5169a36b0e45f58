package route

import (
	"math"
	"slices"

	"github.com/motorpool/fleet"
)

// Input is a trusted fix, or, without a position, a time that has come.
type Input struct {
	At       fleet.Millis
	Position *fleet.Position
	OnTrip   bool              // after the fix
	Moves    []fleet.FenceMove // of the fix
	Inside   []fleet.FenceID   // after it
}

// call is one Step.
type call struct {
	p     *Plans
	s     *State
	key   fleet.VehicleKey
	in    *Input
	out   *fleet.Entities
	moves *[]fleet.StopMove

	news   []bool         // which of the runs there is something to tell of
	passes []fleet.Millis // of the run's stops: when the line between two fixes passed through; 0 if it did not
}

// Step works one input in and appends to out what begins, changes or ends, and to moves the stops that were reached. It
// says whether anything did. Inputs come in order of time, and the deadlines before one have been stepped to.
func (p *Plans) Step(s *State, key fleet.VehicleKey, in *Input, out *fleet.Entities,
	moves *[]fleet.StopMove) (changed bool) {
	if in.Position == nil && s.Seen == 0 {
		return false
	}
	c := call{p: p, s: s, key: key, in: in, out: out, moves: moves}
	s.Seen = max(s.Seen, in.At)
	changed = c.renew()
	if in.Position != nil {
		for i := range s.Runs {
			r := &s.Runs[i]
			c.news[i] = c.visit(r, p.current(r.Plan, in.At)) || c.news[i]
		}
		s.Measure(in.At, in.Position, in.OnTrip)
	}
	for i, is := range c.news { // now that arrivals ahead are reckoned from this fix
		if r := &s.Runs[i]; is {
			changed = true
			c.tell(r, p.current(r.Plan, in.At), "")
		}
	}
	changed = c.start() || changed
	for i := range s.Runs {
		r := &s.Runs[i]
		if v := p.current(r.Plan, in.At); c.deadlines(r, v) {
			changed = true
			c.tell(r, v, "")
		}
	}
	return changed
}

// start begins the runs of plans that hold by now, as long as there are not too many.
func (c *call) start() (started bool) {
	later := c.p.since(c.in.At)
	for i := range later {
		if len(c.s.Runs) >= fleet.MaxPlansAtOnce {
			break
		}
		if from, to := later[i].Validity(); from <= c.in.At && c.in.At < to && !c.s.has(later[i].ID) {
			c.begin(&later[i])
			started = true
		}
	}
	return started
}

// renew ends the runs of plans that hold no more, and lets the others go on by the version that holds.
func (c *call) renew() (changed bool) {
	c.s.Runs = slices.DeleteFunc(c.s.Runs, func(r Run) bool {
		v := c.p.current(r.Plan, c.in.At)
		switch {
		case v != nil && v.Revision == r.Revision:
			return false
		case v != nil:
			changed = true
			return false
		case r.Completed != 0:
		case r.End <= c.in.At:
			c.tell(&r, nil, fleet.RunExpired)
		default:
			c.tell(&r, nil, fleet.RunChanged)
		}
		changed = true
		return true
	})
	c.news = make([]bool, len(c.s.Runs))
	for i := range c.s.Runs {
		r := &c.s.Runs[i]
		if v := c.p.current(r.Plan, c.in.At); v.Revision != r.Revision {
			r.adopt(v, c.in.At)
			c.news[i] = true
		}
	}
	return changed
}

// adopt goes on by another version of the plan: a stop of the same id is the same stop.
func (r *Run) adopt(v *fleet.RoutePlan, at fleet.Millis) {
	stops := make([]Stop, len(v.Stops))
	r.Next = 0
	for i := range v.Stops {
		stops[i].ID = v.Stops[i].ID
		if j := slices.IndexFunc(r.Stops, func(x Stop) bool { return x.ID == stops[i].ID }); j >= 0 {
			stops[i] = r.Stops[j]
		}
		if until := v.Stops[i].ArriveUntil; until == 0 || until > at {
			stops[i].Missed = 0
		}
		if stops[i].Arrived != 0 {
			r.Next = i + 1
		}
	}
	r.Stops, r.Revision, r.End = stops, v.Revision, v.End
	if slices.ContainsFunc(stops, func(x Stop) bool { return x.Arrived == 0 }) {
		r.Completed = 0
	}
}

// begin begins a run: where the vehicle is counts.
func (c *call) begin(v *fleet.RoutePlan) {
	from, _ := v.Validity()
	r := Run{Plan: v.ID, Revision: v.Revision, Begun: from, Told: c.in.At, End: v.End, Stops: make([]Stop, len(v.Stops))}
	for i := range v.Stops {
		r.Stops[i].ID = v.Stops[i].ID
	}
	c.visit(&r, v)
	at, _ := c.s.placeOf(r.Plan)
	c.s.Runs = slices.Insert(c.s.Runs, at, r)
	c.tell(&c.s.Runs[at], v, "")
}

// deadlines notes what has been missed, and reaches by waiting what may be reached from now on.
func (c *call) deadlines(r *Run, v *fleet.RoutePlan) (changed bool) {
	c.passes = nil
	changed = c.reach(r, v)
	for i := range r.Stops {
		x, until := &r.Stops[i], v.Stops[i].ArriveUntil
		if x.Arrived == 0 && x.Missed == 0 && until != 0 && until <= c.in.At {
			x.Missed, changed = until, true
		}
	}
	return changed
}

// visit looks where the vehicle is among the stops of a run, and says whether that changes anything worth telling.
func (c *call) visit(r *Run, v *fleet.RoutePlan) (changed bool) {
	c.passes = make([]fleet.Millis, len(r.Stops))
	for i := range r.Stops {
		changed = c.look(&r.Stops[i], &v.Stops[i], &c.passes[i]) || changed
	}
	changed = c.reach(r, v) || changed
	if r.Completed == 0 {
		changed = c.corridor(r, v) || changed
	}
	return changed
}

// place returns where the vehicle is, and how far a fix may be off.
func (c *call) place() (fleet.Place, float64) {
	p := c.in.Position
	if p == nil {
		return c.s.Place, 0
	}
	accuracy := p.Accuracy
	if math.IsNaN(accuracy) {
		accuracy = 0
	}
	return fleet.Place{Lat: p.Lat, Lng: p.Lng}, min(accuracy, maxMargin)
}

// look notes whether the vehicle is at a stop, and says whether it has left it.
func (c *call) look(x *Stop, plan *fleet.PlanStop, pass *fleet.Millis) (left bool) {
	inside, entered, gone := false, c.in.At, c.in.At
	if plan.Fence != 0 {
		inside = slices.Contains(c.in.Inside, plan.Fence)
		for i := range c.in.Moves {
			switch m := &c.in.Moves[i]; {
			case m.Fence != plan.Fence:
			case m.What == fleet.MoveEnter:
				entered = m.At
			case m.What == fleet.MoveExit:
				gone = m.At
			case m.What == fleet.MoveCross:
				*pass = m.At
			}
		}
	} else {
		place, accuracy := c.place()
		reach := plan.Radius
		if x.Inside {
			reach += max(margin, accuracy)
		}
		inside = fleet.Distance(plan.Place.Lat, plan.Place.Lng, place.Lat, place.Lng) <= reach
		if !inside && !x.Inside {
			*pass = c.passed(plan, place)
		}
	}
	switch {
	case inside && !x.Inside:
		x.Inside, x.Fresh, x.Since = true, true, entered
	case !inside && x.Inside:
		x.Inside, x.Fresh = false, false
		if x.Arrived != 0 && x.Left == 0 {
			x.Left = max(gone, x.Arrived)
			return true
		}
	}
	return false
}

// passed returns when the way from the fix before was nearest to a stop, if that was within its radius; else 0. The way
// is straight on the plane that touches the stop.
func (c *call) passed(plan *fleet.PlanStop, to fleet.Place) fleet.Millis {
	gap := c.in.At - c.s.At
	if c.in.Position == nil || c.s.At == 0 || gap > MaxGap || gap < 2 {
		return 0
	}
	perDegree := fleet.EarthRadius * math.Pi / 180
	onPlane := func(p fleet.Place) (x, y float64) {
		return math.Remainder(p.Lng-plan.Place.Lng, 360) * perDegree * math.Cos(plan.Place.Lat*math.Pi/180),
			(p.Lat - plan.Place.Lat) * perDegree
	}
	ax, ay := onPlane(c.s.Place)
	bx, by := onPlane(to)
	dx, dy := bx-ax, by-ay
	length := dx*dx + dy*dy
	if length == 0 {
		return 0
	}
	part := -(ax*dx + ay*dy) / length
	if part <= 0 || part >= 1 || math.Hypot(ax+part*dx, ay+part*dy) > plan.Radius {
		return 0
	}
	return c.s.At + min(max(fleet.Millis(part*float64(gap)), 1), gap-1)
}

// reach has the vehicle arrive where it is, as the package comment says.
func (c *call) reach(r *Run, v *fleet.RoutePlan) (reached bool) {
	for r.Next < len(r.Stops) && (r.Stops[r.Next].Inside || c.pass(r.Next) != 0) {
		c.arrive(r, v, r.Next)
		reached = true
	}
	if !reached {
		for i := range r.Stops {
			x := &r.Stops[i]
			if x.Arrived == 0 && (x.Fresh || c.pass(i) != 0) && v.Stops[i].ArriveFrom <= c.in.At {
				c.arrive(r, v, i)
				reached = true
				break
			}
		}
	}
	if reached {
		for i := range r.Stops {
			r.Stops[i].Fresh = false
		}
		if !slices.ContainsFunc(r.Stops, func(x Stop) bool { return x.Arrived == 0 }) {
			r.Completed = c.in.At
			c.back(r)
		}
	}
	return reached
}

func (c *call) pass(i int) fleet.Millis {
	if i < len(c.passes) {
		return c.passes[i]
	}
	return 0
}

// arrive notes an arrival.
func (c *call) arrive(r *Run, v *fleet.RoutePlan, i int) {
	x, plan := &r.Stops[i], &v.Stops[i]
	x.Arrived = c.in.At
	switch pass := c.pass(i); {
	case x.Fresh:
		x.Arrived = max(x.Since, r.Begun, min(plan.ArriveFrom, c.in.At))
		if i == r.Next {
			x.Arrived = max(x.Since, r.Begun)
		}
	case !x.Inside && pass != 0:
		x.Arrived, x.Left, x.Passed = pass, pass, true
	}
	if plan.ArriveUntil == 0 || x.Arrived <= plan.ArriveUntil {
		x.Missed = 0
	}
	r.Next = max(r.Next, i+1)
	place, _ := c.place()
	*c.moves = append(*c.moves, fleet.StopMove{Plan: r.Plan, Stop: x.ID, At: x.Arrived, Place: place})
}

// corridor notes whether the vehicle is on the corridor of its plan, and says whether that has changed.
func (c *call) corridor(r *Run, v *fleet.RoutePlan) (changed bool) {
	var on, off bool
	switch {
	case v.Fence != 0:
		on = slices.Contains(c.in.Inside, v.Fence)
		off = !on
	case v.Corridor != nil:
		place, accuracy := c.place()
		shape := c.p.corridor(v)
		on, off = shape.Contains(place.Lat, place.Lng), shape.Outside(place.Lat, place.Lng, accuracy)
	default:
		return c.back(r)
	}
	r.Judged = r.Judged || on || r.Next > 0
	if r.Judged && off && r.OffSince == 0 {
		r.OffSince = c.in.At
		return true
	}
	return !off && c.back(r)
}

// back ends what was off the corridor.
func (c *call) back(r *Run) (changed bool) {
	if r.OffSince == 0 {
		return false
	}
	r.Off, r.OffSince = r.Off+c.in.At-r.OffSince, 0
	return true
}

// Measure takes a fix into the mean speed, and keeps its place. It is all that Step does without a plan.
func (s *State) Measure(at fleet.Millis, p *fleet.Position, onTrip bool) {
	if gap := at - s.At; s.At != 0 && s.OnTrip && onTrip && gap <= speedGap {
		left := float64(Memory) / float64(Memory+gap)
		s.Way = s.Way*left + fleet.Distance(s.Place.Lat, s.Place.Lng, p.Lat, p.Lng)
		s.Time = s.Time*left + float64(gap)
	}
	s.Seen = max(s.Seen, at)
	s.At, s.OnTrip, s.Place = at, onTrip, fleet.Place{Lat: p.Lat, Lng: p.Lng}
}
