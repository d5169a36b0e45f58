package track

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/area"
)

// RoutePlan is a route plan as it is answered.
type RoutePlan struct {
	ID string `json:"id" doc:"Identity." example:"rpl_1234"`

	record.RoutePlanFields

	Object string `json:"object" doc:"Always route_plan." example:"route_plan"`

	rest.Stamps
}

func (a *API) routePlanRoutes() {
	log := record.NewLog(a.Store, record.RoutePlans)
	s := &rest.Resource[record.RoutePlan]{
		Server: a.Server, Log: log, Listing: &query.RoutePlans,
		Titles:   rest.Titles{Path: "/v1/route_plans", Tag: "Routes", Noun: "route plan", Nouns: "route plans"},
		Scope:    rest.Scopes{Read: auth.TelematicsRead, Write: auth.TelematicsWrite},
		Views:    rest.Views{View: RoutePlan{}, Fields: record.RoutePlanFields{}},
		Writable: func(p *record.RoutePlan) any { return &p.RoutePlanFields },
		Show: rest.ShowEach(func(rec record.Record[record.RoutePlan]) any {
			return RoutePlan{ID: fleet.FormatID(fleet.PlanPrefix, rec.ID), RoutePlanFields: rec.Body.RoutePlanFields,
				Object: "route_plan", Stamps: rest.StampsOf(rec)}
		}),
		Prepare: func(r *http.Request, _ uint64, _, p *record.RoutePlan) error {
			if err := checkRoutePlan(p); err != nil {
				return err
			}
			return a.placeRoutePlan(r, p)
		},
	}
	s.Register()
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: s.Path + "/{id}/progress", ID: "getRoutePlanProgress", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "Get how far a route plan has come",
		About: "The newest run of the plan: for each stop whether and when it was reached, and when it will be. A plan that has not begun, or whose vehicle was never heard of, " +
			"is `planned`, without `id`. " + aboutETA,
		Reply: RouteRun{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.progress(w, r, log) })
	runs := &derivedResource[*fleet.RouteRun, RouteRun]{
		api: a, path: "/v1/route_runs", name: "RouteRun", noun: "route run", nouns: "route runs", tag: s.Tag,
		from:  &query.RouteRuns,
		about: "Vehicles on their ways along route plans.", show: a.showRouteRuns,
		params: []rest.Param{{Name: "route_plan_id", About: "Only of this route plan."}},
		filter: func(r *http.Request, f *query.DerivedFilter) error {
			text := rest.TextParam(r, "route_plan_id", "")
			if text == "" {
				return nil
			}
			id, err := fleet.ParseID(fleet.PlanPrefix, text)
			if err != nil {
				return rest.InvalidParam("route_plan_id", err.Error())
			}
			f.Plan = fleet.PlanID(id)
			return nil
		},
	}
	runs.registerList()
	runs.registerGet()
}

// checkRoutePlan completes a plan, and refuses what the schema cannot.
func checkRoutePlan(p *record.RoutePlan) error {
	p.Complete()
	faults := p.Faults()
	if p.Corridor != nil {
		text, err := json.Marshal(p.Corridor)
		if err != nil {
			return fmt.Errorf("encode corridor: %w", err)
		}
		if _, err := area.Parse(text); err != nil {
			for _, f := range geometryFaults(err) {
				f.Pointer = "/corridor" + f.Pointer[len("/geometry"):]
				faults = append(faults, f)
			}
		}
	}
	if len(faults) > 0 {
		return fleet.Invalid(faults...)
	}
	return nil
}

// placeRoutePlan refuses a plan that names records which do not exist, and notes where its geofences are.
func (a *API) placeRoutePlan(r *http.Request, p *record.RoutePlan) error {
	if err := a.CheckExists(r, &query.Vehicles, fleet.VehiclePrefix, p.VehicleID, "/vehicle_id", "vehicle"); err != nil {
		return err
	}
	if err := a.roomForRoutePlan(r, p); err != nil {
		return err
	}
	if p.CorridorGeofenceID != "" {
		if err := a.CheckExists(r, &query.Geofences, fleet.FencePrefix, p.CorridorGeofenceID, "/corridor_geofence_id",
			"geofence"); err != nil {
			return err
		}
	}
	var ids []uint64
	for i := range p.Stops {
		if id, err := fleet.ParseID(fleet.FencePrefix, p.Stops[i].GeofenceID); err == nil {
			ids = append(ids, id)
		}
	}
	found, err := query.RecordsByID(r.Context(), a.DB, &query.Geofences, auth.From(r.Context()).Account, ids)
	if err != nil {
		return err
	}
	var faults []fleet.FieldError
	for i := range p.Stops {
		s := &p.Stops[i]
		if s.GeofenceID == "" {
			continue
		}
		id, _ := fleet.ParseID(fleet.FencePrefix, s.GeofenceID) // zero, which is nobody's, if it is no id
		stored, ok := found[id]
		if !ok {
			faults = append(faults,
				fleet.NoSuch("/stops/"+strconv.Itoa(i)+"/geofence_id", "geofence", fleet.FencePrefix, s.GeofenceID))
			continue
		}
		var fence record.Geofence
		if err := json.Unmarshal([]byte(stored.Body), &fence); err != nil {
			return fmt.Errorf("read geofence %s: %w", s.GeofenceID, err)
		}
		s.Lat, s.Lng = middle(fence.Bounds)
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// roomForRoutePlan refuses a plan that overlaps more others of its vehicle than are followed at a time.
func (a *API) roomForRoutePlan(r *http.Request, p *record.RoutePlan) error {
	page, err := query.List(r.Context(), a.DB, &query.RoutePlans,
		query.ListRequest{Account: auth.From(r.Context()).Account, Limit: 1,
			Filters: []query.Filter{
				{Field: "vehicle_id", Op: "eq", Values: []string{p.VehicleID}},
				{Field: "from", Op: "lt", Values: []string{p.EndsAt.UTC().Format(time.RFC3339Nano)}},
				{Field: "until", Op: "gt", Values: []string{p.StartsAt.UTC().Format(time.RFC3339Nano)}},
			}})
	if err != nil {
		return err
	}
	others := page.Total
	if chi.URLParam(r, "id") != "" { // it is one of them itself
		others--
	}
	if others < fleet.MaxPlansAtOnce {
		return nil
	}
	return fleet.Invalid(fleet.FieldError{Pointer: "/vehicle_id", Code: "invalid", Detail: fmt.Sprintf(
		"has %d other route plans between from and until, and at most %d may overlap: archive some or choose another time",
		others, fleet.MaxPlansAtOnce)})
}

// middle returns the middle of a box.
func middle(b *record.Bounds) (lat, lng *float64) {
	if b == nil {
		return nil, nil
	}
	north, east := (b.South+b.North)/2, b.West
	if b.East < b.West {
		east += (b.East + 360 - b.West) / 2
	} else {
		east += (b.East - b.West) / 2
	}
	if east > 180 {
		east -= 360
	}
	north, east = units.Rounded(north, 7), units.Rounded(east, 7)
	return &north, &east
}
