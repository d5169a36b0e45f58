package fleet

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// PlanID names a route plan: the places that a vehicle is to visit, in order.
type PlanID uint64

// Prefixes of a route plan and of a run of one.
const (
	PlanPrefix = "rpl_"
	RunPrefix  = "rtr_"
)

func (id PlanID) String() string { return FormatID(PlanPrefix, uint64(id)) }

// RoutePlan is a route plan as it was laid down during [From, To); To 0 means until further notice. Fixes count for it
// in [Start, End).
type RoutePlan struct {
	ID         PlanID
	Revision   uint64
	From, To   Millis
	Vehicle    VehicleID
	Start, End Millis
	Stops      []PlanStop
	Corridor   []byte  // GeoJSON as query/area takes it; nil for none
	Fence      FenceID // or the geofence that is the corridor; 0 for none
}

// MaxPlansAtOnce is how many plans a vehicle follows at a time.
const MaxPlansAtOnce = 100

// Validity returns when the version may count at all: while it is in force, and in its own span.
func (p *RoutePlan) Validity() (from, to Millis) {
	if from, to = max(p.From, p.Start), p.End; p.To != 0 {
		to = min(to, p.To)
	}
	return from, to
}

// PlanStop is a stop of a route plan: a geofence, or a place with a radius.
type PlanStop struct {
	ID          string // within its plan; what keeps it the same stop when the plan changes
	Fence       FenceID
	Place       Place   // of a geofence its middle, by which arrivals are reckoned
	Radius      float64 // m, without a geofence
	ArriveFrom  Millis  // not before this, unless it is the next stop; 0 for none
	ArriveUntil Millis  // after this it was not reached in time; 0 for none
	Stay        Millis  // that is planned
}

// RouteRun is a vehicle on its way along a route plan.
type RouteRun struct {
	Head
	Plan         PlanID    `json:"plan,string"`
	Revision     uint64    `json:"plan_revision"`        // of the plan
	Stops        []RunStop `json:"stops"`                // in the order of the plan
	Off          Millis    `json:"off_ms"`               // time off the corridor
	OffSince     Millis    `json:"off_since_ms"`         // since when it is; 0: it is not
	Speed        float64   `json:"speed_mps,omitempty"`  // by which the times of arrival are reckoned
	Place        *Place    `json:"last_place,omitempty"` // from which they are
	ClosedReason string    `json:"closed_reason,omitempty"`
}

// Why a run is over.
const (
	RunCompleted = "completed"    // every stop was reached
	RunExpired   = "ended"        // the plan's time is over
	RunChanged   = "plan_changed" // the plan was archived, or given to another vehicle
)

// Kind returns KindRun.
func (*RouteRun) Kind() Kind { return KindRun }

// Progress is a number that changes when a stop is reached, left, skipped or missed, and with the corridor and the
// plan: with what somebody is told of, unlike the times of arrival that are reckoned.
func (r *RouteRun) Progress() uint64 {
	hash := fnv.New64a()
	fmt.Fprintln(hash, r.Revision, r.OffSince, r.Open)
	for i := range r.Stops {
		x := &r.Stops[i]
		fmt.Fprintln(hash, x.ID, x.Arrived, x.Left, x.Skipped, x.Missed)
	}
	return hash.Sum64()
}

// RunStop is how it stands with a stop. Times are 0 where it has not come to that.
type RunStop struct {
	ID       string `json:"id"`
	Arrived  Millis `json:"arrived_ms,omitempty"`
	Left     Millis `json:"left_ms,omitempty"`
	Passed   bool   `json:"passed,omitempty"`    // no fix inside: the line between two fixes passes through
	Skipped  bool   `json:"skipped,omitempty"`   // a later stop was reached, and this one was not
	Missed   Millis `json:"missed_ms,omitempty"` // when the time to arrive was over without an arrival
	ETA      Millis `json:"eta_ms,omitempty"`    // of a stop that is still to come
	ETAError Millis `json:"eta_error_ms,omitempty"`
}

// StopMove is an arrival at a stop of a route plan.
type StopMove struct {
	Plan  PlanID
	Stop  string
	At    Millis
	Place Place
}

// Subject names the stop of a plan in an alert.
func (m *StopMove) Subject() string { return StopSubject(m.Plan, m.Stop) }

// StopSubject names a stop of a plan in an alert.
func StopSubject(plan PlanID, stop string) string {
	return PlanPrefix + strconv.FormatUint(uint64(plan), 10) + "/" + stop
}
