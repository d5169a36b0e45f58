package query

import (
	"context"
	"sort"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// Leg is a part of a vehicle's route: a trip, which may be an unrecorded way, a stop, or neither where nothing is
// known in between.
type Leg struct {
	Trip     *Derived[*fleet.Trip]
	Stop     *Derived[*fleet.Stop]
	From, To fleet.Millis
	Start    fleet.Place
	End      fleet.Place
}

// Route is where a vehicle has been: legs in the order of time, and their sums.
type Route struct {
	Legs               []Leg
	Trips, Stops, Gaps int
	Unseen             int     // unrecorded ways, which Trips does not count
	Distance           float64 // m, of the trips and of these ways
	Estimated          float64 // m, of Distance
	MaxSpeed           float64 // m/s, of the trips
	Moving             fleet.Millis
	Unrecorded         fleet.Millis // on the move, as far as anybody knows, but not heard
	Idle               fleet.Millis // with the engine on, on trips and at stops
	Stopped            fleet.Millis // of the stops
	Unknown            fleet.Millis // of the gaps
}

// routeGap is how far two legs must be apart for something to be unknown in between: shorter is the time
// between two fixes.
const routeGap = time.Minute

// RouteOf returns the route of a vehicle in a span: the trips and stops that overlap it, whole, however the
// span is chosen.
func RouteOf(ctx context.Context, db driver.Conn, f DerivedFilter) (Route, error) {
	var r Route
	f.Ascending = true
	for d, err := range Trips.List(ctx, db, f) {
		if err != nil {
			return r, err
		}
		t := d.Entity
		r.Legs = append(r.Legs, Leg{Trip: &d, From: t.Start, To: t.End, Start: t.StartPlace, End: t.EndPlace})
		if t.Unseen {
			r.Unseen++
		} else {
			r.Trips++
			r.MaxSpeed = max(r.MaxSpeed, t.MaxSpeed, t.MeanSpeed)
		}
		r.Distance, r.Estimated = r.Distance+t.Distance, r.Estimated+t.Estimated
		r.Moving, r.Unrecorded, r.Idle = r.Moving+t.Moving, r.Unrecorded+t.Unrecorded, r.Idle+t.Idle
	}
	for d, err := range Stops.List(ctx, db, f) {
		if err != nil {
			return r, err
		}
		s := d.Entity
		r.Legs = append(r.Legs, Leg{Stop: &d, From: s.Start, To: s.End, Start: s.Place, End: s.Place})
		r.Stops++
		r.Stopped, r.Idle = r.Stopped+s.End-s.Start, r.Idle+s.Idle
	}
	sort.SliceStable(r.Legs, func(i, j int) bool {
		if r.Legs[i].From != r.Legs[j].From {
			return r.Legs[i].From < r.Legs[j].From
		}
		return r.Legs[i].To < r.Legs[j].To
	})
	r.fillGaps()
	return r, nil
}

// fillGaps puts a leg between two legs where nothing is known for longer than routeGap.
func (r *Route) fillGaps() {
	var legs []Leg
	for i, leg := range r.Legs {
		if i > 0 {
			if before := r.Legs[i-1]; leg.From.Sub(before.To) > routeGap {
				legs = append(legs, Leg{From: before.To, To: leg.From, Start: before.End, End: leg.Start})
				r.Gaps++
				r.Unknown += leg.From - before.To
			}
		}
		legs = append(legs, leg)
	}
	r.Legs = legs
}
