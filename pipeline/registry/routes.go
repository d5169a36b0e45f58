package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
)

// routesKept is for how long route plans that are over are known, so that the past can be derived again.
const routesKept = owedKept

// planBody is of a route plan.
type planBody struct {
	VehicleID  string          `json:"vehicle_id"`
	StartsAt   time.Time       `json:"from"`
	EndsAt     time.Time       `json:"until"`
	Stops      []planStop      `json:"stops"`
	Corridor   json.RawMessage `json:"corridor"`
	CorridorID string          `json:"corridor_geofence_id"`
}

type planStop struct {
	ID          string     `json:"id"`
	GeofenceID  string     `json:"geofence_id"`
	Lat         float64    `json:"lat"`
	Lng         float64    `json:"lng"`
	RadiusM     float64    `json:"radius_m"`
	ArriveFrom  *time.Time `json:"arrive_from"`
	ArriveUntil *time.Time `json:"arrive_until"`
	StayS       float64    `json:"stay_s"`
}

// plan makes what is followed of the body.
func (b *planBody) plan() (*fleet.RoutePlan, error) {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return nil, err
	}
	p := &fleet.RoutePlan{Vehicle: fleet.VehicleID(vehicle), Start: fleet.MillisOf(b.StartsAt),
		End: fleet.MillisOf(b.EndsAt)}
	if len(b.Corridor) > 0 {
		p.Corridor = b.Corridor
	}
	if p.Fence, err = fenceNamed(b.CorridorID); err != nil {
		return nil, err
	}
	for _, s := range b.Stops {
		x := fleet.PlanStop{ID: s.ID, Place: fleet.Place{Lat: s.Lat, Lng: s.Lng}, Radius: s.RadiusM, Stay: seconds(s.StayS)}
		if x.Fence, err = fenceNamed(s.GeofenceID); err != nil {
			return nil, err
		}
		if s.ArriveFrom != nil {
			x.ArriveFrom = fleet.MillisOf(*s.ArriveFrom)
		}
		if s.ArriveUntil != nil {
			x.ArriveUntil = fleet.MillisOf(*s.ArriveUntil)
		}
		p.Stops = append(p.Stops, x)
	}
	return p, nil
}

// fenceNamed reads the id of a geofence; none is 0.
func fenceNamed(text string) (fleet.FenceID, error) {
	if text == "" {
		return 0, nil
	}
	id, err := fleet.ParseID(fleet.FencePrefix, text)
	return fleet.FenceID(id), err
}

// readRoutes reads all revisions of the route plans that were written since a time, but for what ended long before now.
func (p *Policies) readRoutes(ctx context.Context, since, now time.Time) ([]policyRow, error) {
	return p.rows(ctx, "policy_routes", since, clickhouse.Named("horizon", now.Add(-routesKept).UnixMilli()))
}

// takeRoute notes all revisions of a route plan; those that were read before are not read again.
func (p *Policies) takeRoute(r *reading, rows []policyRow, changed map[fleet.AccountID]bool) {
	first := &rows[0]
	a, id := p.recordsOf(first.account), fleet.PlanID(first.id)
	known := a.plans[id]
	have := len(known)
	for i := range rows {
		row := &rows[i]
		if last := len(known) - 1; last >= 0 && row.revision <= known[last].number {
			continue
		}
		var body planBody
		var plan *fleet.RoutePlan
		err := json.Unmarshal([]byte(row.body), &body)
		if err == nil {
			plan, err = body.plan()
		}
		if err != nil {
			r.skip(id.String(), row.revision, err)
			continue
		}
		known = append(known,
			policyRevision{number: row.revision, at: fleet.MillisOf(row.at), archived: row.archived != 0, plan: plan})
		if a.driven[plan.Vehicle] == nil {
			a.driven[plan.Vehicle] = map[fleet.PlanID]bool{}
		}
		a.driven[plan.Vehicle][id] = true
	}
	if len(known) == have {
		return
	}
	a.plans[id] = known
	changed[fleet.AccountID(first.account)] = true
	for _, v := range known {
		a.stale[v.plan.Vehicle] = true
	}
}

// planVersions makes the versions of a route plan for a vehicle. Revisions that differ in nothing that matters are one,
// under the number of the first.
func planVersions(id fleet.PlanID, vehicle fleet.VehicleID, revisions []policyRevision) []fleet.RoutePlan {
	var versions []fleet.RoutePlan
	from, to := spansOf(revisions)
	for i, r := range revisions {
		if r.archived || to[i] == from[i] || r.plan.Vehicle != vehicle {
			continue
		}
		v := *r.plan
		v.ID, v.Revision, v.From, v.To = id, r.number, from[i], to[i]
		if last := len(versions) - 1; last >= 0 && versions[last].To == v.From {
			same := v
			same.Revision, same.From = versions[last].Revision, versions[last].From
			was := versions[last]
			if was.To = same.To; reflect.DeepEqual(was, same) {
				versions[last] = same
				continue
			}
		}
		versions = append(versions, v)
	}
	return versions
}

// routes adds the route plans of a vehicle to what its record says.
func (a *accountRecords) routes(vehicle fleet.VehicleID, t *fleet.Traits) {
	for id := range a.driven[vehicle] {
		t.Routes = append(t.Routes, planVersions(id, vehicle, a.plans[id])...)
	}
	slices.SortFunc(t.Routes, func(a, b fleet.RoutePlan) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Revision, b.Revision))
	})
}

// eachRecord calls take with the rows of each record among rows, which are in order of their records.
func eachRecord(rows []policyRow, take func([]policyRow)) {
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].id == rows[from].id && rows[to].kind == rows[from].kind &&
			rows[to].account == rows[from].account {
			to++
		}
		take(rows[from:to])
		from = to
	}
}
