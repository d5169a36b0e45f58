// Package route follows a vehicle along the route plans that it was given: which stops it has reached, left, skipped or
// missed, when it will be at those to come, and whether it is on its corridor. It is pure: the time is that of the
// inputs, and the same fixes, plans and deadlines always make the same runs, however the inputs are cut into batches.
//
// A run begins when its plan does, or when the plan was written if that is later, and ends with it. A stop is reached
//
//	the next one                     by being inside, from before too: stops in one place that follow each other are
//	                                 reached together
//	another one                      by going in, not before its ArriveFrom; an entry counts for one stop only, so a
//	                                 depot at both ends of a plan is not its last stop when the plan begins there. Those
//	                                 between become skipped, and may still be reached
//	by a line between two fixes      that passes through, neither inside and not more than MaxGap apart
//
// It is left at the first fix outside by more than the margin, or when the geofence has it left. The corridor counts
// from when the vehicle was first on it, or had reached a stop, until the plan is completed; it is off it at the first
// fix that is outside by more than its accuracy. A vehicle follows at most fleet.MaxPlansAtOnce at a time: those that
// begin while it does wait until one of them is over.
//
// Arrivals ahead are reckoned from the newest fix: the straight lines through the stops to come, by Detour, at the
// vehicle's own mean speed on its trips of late (an average that forgets within Memory, halts at lights included;
// bounded, and UsualSpeed as long as there is none), and the stays that are planned. ErrorPart of the driving time and
// ErrorBase more is what they are off by at most about four times in five: 78 % on 635 questions to drives of cars, 91
// % on 2,151 to those of buses, half of all within 3 % (TestArrivalsOnRecordings).
package route

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

const (
	// Detour is how much longer ways on roads are than straight lines.
	Detour = 1.3
	// UsualSpeed, in m/s, is assumed of a vehicle of which no trip is known.
	UsualSpeed = 40 * fleet.MetresPerKmh
	// Memory is the time on trips after which little more than a third of the weight of a speed is left.
	Memory = fleet.Millis(30 * 60 * 1000)
	// MaxGap is the longest silence across which a pass is believed, as in pipeline/geofence.
	MaxGap = fleet.Millis(5 * 60 * 1000)
	// ErrorPart and ErrorBase say how far an arrival that is reckoned may be off.
	ErrorPart = 0.4
	ErrorBase = fleet.Millis(60 * 1000)

	slowest, fastest = 10 * fleet.MetresPerKmh, 110 * fleet.MetresPerKmh
	speedGap         = fleet.Millis(20 * 60 * 1000) // across a longer silence no speed is reckoned
	speedKnown       = fleet.Millis(2 * 60 * 1000)  // on trips, before their mean says something
	margin           = 25.0                         // m outside, at least, that a fix must be to have left
	maxMargin        = 100.0
)

// Plans are the route plans of a vehicle. They do not change but for what they remember of shapes, and are safe for
// concurrent use.
type Plans struct {
	all []fleet.RoutePlan // by End, plan and revision
	of  map[fleet.PlanID][]*fleet.RoutePlan

	mu     sync.Mutex
	shapes map[version]area.Shape // of corridors, as they were needed
}

type version struct {
	plan     fleet.PlanID
	revision uint64
}

// New prepares plans, which must not be changed any more.
func New(all []fleet.RoutePlan) *Plans {
	byEnd := func(a, b fleet.RoutePlan) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Revision, b.Revision))
	}
	if !slices.IsSortedFunc(all, byEnd) {
		all = slices.Clone(all)
		slices.SortFunc(all, byEnd)
	}
	p := &Plans{all: all, of: make(map[fleet.PlanID][]*fleet.RoutePlan, len(all))}
	for i := range all {
		p.of[all[i].ID] = append(p.of[all[i].ID], &all[i])
	}
	return p
}

// None says that there is nothing to follow: no plans, and no runs that would have to end.
func (p *Plans) None(s *State) bool { return len(p.all) == 0 && len(s.Runs) == 0 }

// since returns the versions of plans that end after a time.
func (p *Plans) since(at fleet.Millis) []fleet.RoutePlan {
	return p.all[sort.Search(len(p.all), func(i int) bool { return p.all[i].End > at }):]
}

// current returns the version of a plan that holds at a time, or nil.
func (p *Plans) current(id fleet.PlanID, at fleet.Millis) *fleet.RoutePlan {
	for _, v := range p.of[id] {
		if from, to := v.Validity(); v.End > at && from <= at && at < to {
			return v
		}
	}
	return nil
}

// present returns a run as the version of its plan has it that holds, which may have been written since the newest
// input; without one, nil.
func (p *Plans) present(s *State, i int) (*Run, *fleet.RoutePlan) {
	r := &s.Runs[i]
	v := p.current(r.Plan, s.Seen)
	if v != nil && v.Revision != r.Revision {
		renewed := *r
		renewed.adopt(v, s.Seen)
		r = &renewed
	}
	return r, v
}

// corridor returns the shape of a plan's own corridor. One that cannot be read holds nothing, as it was checked when it
// was written.
func (p *Plans) corridor(v *fleet.RoutePlan) area.Shape {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := version{v.ID, v.Revision}
	shape, ok := p.shapes[name]
	if !ok {
		shape, _ = area.Parse(v.Corridor)
		if p.shapes == nil {
			p.shapes = map[version]area.Shape{}
		}
		p.shapes[name] = shape
	}
	return shape
}

// State is what must be remembered of a vehicle between two inputs. The zero value knows nothing.
type State struct {
	Seen   fleet.Millis // up to when everything was looked at; 0: there was no fix
	At     fleet.Millis // of the newest fix
	Place  fleet.Place  // where it was
	OnTrip bool         // and whether that belonged to a trip
	Way    float64      // m on trips of late, the older the less,
	Time   float64      // and ms
	Runs   []Run        // by plan
}

// Run is how far a vehicle has come along a plan.
type Run struct {
	Plan      fleet.PlanID
	Revision  uint64
	Begun     fleet.Millis // when the plan began
	Told      fleet.Millis // when that was seen
	End       fleet.Millis // of the plan
	Changed   fleet.Millis // when something was last told; deadlines of others do not count
	Next      int          // behind the last stop in order that was reached
	Completed fleet.Millis
	Judged    bool // whether the corridor counts
	OffSince  fleet.Millis
	Off       fleet.Millis // time off the corridor before that
	Stops     []Stop
}

// Stop is how it stands with a stop of a plan.
type Stop struct {
	ID            string
	Inside, Fresh bool         // Fresh: the entry has not counted for a stop yet
	Since         fleet.Millis // of the entry
	Arrived, Left fleet.Millis
	Passed        bool
	Missed        fleet.Millis
}

// Clone returns a copy that shares nothing.
func (s *State) Clone() State {
	c := *s
	c.Runs = slices.Clone(s.Runs)
	for i := range c.Runs {
		c.Runs[i].Stops = slices.Clone(c.Runs[i].Stops)
	}
	return c
}

// Bound returns what the vehicle is bound by on its runs: stops to reach in time, and a corridor to go back to.
func (p *Plans) Bound(s *State) []fleet.Obligation {
	var all []fleet.Obligation
	for i := range s.Runs {
		r, v := p.present(s, i)
		if v == nil || r.Completed != 0 {
			continue
		}
		for j := range r.Stops {
			if until := v.Stops[j].ArriveUntil; until != 0 && r.Stops[j].Arrived == 0 {
				all = append(all, fleet.Obligation{Kind: "stop", Ref: fleet.StopSubject(r.Plan, r.Stops[j].ID), To: until})
			}
		}
		if r.OffSince != 0 {
			all = append(all, fleet.Obligation{Kind: "corridor", Ref: r.Plan.String(), To: r.OffSince})
		}
	}
	return all
}

// Wake returns the earliest time at which Advance would do something if nothing arrives, or 0 if never.
func (p *Plans) Wake(s *State) fleet.Millis {
	if s.Seen == 0 || p.None(s) {
		return 0
	}
	wake := fleet.Millis(math.MaxInt64)
	for i := range s.Runs {
		r := &s.Runs[i]
		v := p.current(r.Plan, s.Seen)
		if v == nil || v.Revision != r.Revision {
			return s.Seen
		}
		_, to := v.Validity()
		wake = min(wake, to)
		for j := range r.Stops {
			wake = min(wake, r.Stops[j].wake(&v.Stops[j], s.Seen))
		}
	}
	if len(s.Runs) < fleet.MaxPlansAtOnce {
		later := p.since(s.Seen)
		for i := range later {
			if from, to := later[i].Validity(); from < to && to > s.Seen && !s.has(later[i].ID) {
				wake = min(wake, max(from, s.Seen))
			}
		}
	}
	if wake == math.MaxInt64 {
		return 0
	}
	return wake
}

// wake returns when a stop is missed, or may be reached by standing there.
func (x *Stop) wake(plan *fleet.PlanStop, seen fleet.Millis) fleet.Millis {
	wake := fleet.Millis(math.MaxInt64)
	if x.Arrived != 0 {
		return wake
	}
	if plan.ArriveUntil != 0 && x.Missed == 0 {
		wake = max(plan.ArriveUntil, seen)
	}
	if x.Fresh && plan.ArriveFrom > seen {
		wake = min(wake, plan.ArriveFrom)
	}
	return wake
}

// has says whether a plan has its run.
func (s *State) has(plan fleet.PlanID) bool {
	_, has := s.placeOf(plan)
	return has
}

// placeOf returns where the run of a plan is or belongs.
func (s *State) placeOf(plan fleet.PlanID) (int, bool) {
	return slices.BinarySearchFunc(s.Runs, plan, func(r Run, plan fleet.PlanID) int { return cmp.Compare(r.Plan, plan) })
}
