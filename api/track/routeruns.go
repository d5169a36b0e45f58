package track

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// aboutETA says how times of arrival are reckoned.
const aboutETA = "Times of arrival are reckoned at the newest fix: straight lines through the stops to come, 1.3 times as long, at the vehicle's mean speed on its trips of late " +
	"(halts at lights included; between 10 and 110 km/h, 40 km/h as long as no trip is known), and the stays that are planned. They know nothing of roads and traffic; " +
	"`eta_error_s` is by how much they may be off; about one in five is off by more."

// RouteRun is a vehicle on its way along a route plan, as it is answered.
type RouteRun struct {
	ID               string              `json:"id,omitempty" doc:"Missing while it is planned." example:"rtr_1234"`
	Object           string              `json:"object" doc:"Always route_run." example:"route_run"`
	VehicleID        string              `json:"vehicle_id" example:"veh_1234"`
	RoutePlanID      string              `json:"route_plan_id" example:"rpl_1234"`
	RoutePlanVersion uint64              `json:"route_plan_revision" doc:"Of the plan, by which it went last."`
	Status           string              `json:"status" enum:"planned,under_way,completed,ended,plan_changed" doc:"completed: every stop was reached; ended: the time of the plan was over before; plan_changed: the plan was archived or given to another vehicle."`
	StartAt          record.Instant      `json:"from" doc:"When the plan began."`
	EndAt            record.Instant      `json:"until" doc:"When it was completed or over; while it is under way the newest that is known, by which times of arrival are reckoned."`
	LocalOn          string              `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	Stops            []RouteRunStop      `json:"stops" nullable:"false" flat:"-" doc:"In the order of the plan."`
	StopsReached     int                 `json:"stops_reached"`
	StopsMissed      int                 `json:"stops_missed" doc:"Not reached in time, those that were reached later among them."`
	OffCorridorS     float64             `json:"off_corridor_s" doc:"Time off the corridor, from when the vehicle was first on it or had reached a stop."`
	OffCorridorSince record.Instant      `json:"off_corridor_since" doc:"null while it is on it."`
	SpeedMph         *units.MilesPerHour `json:"speed_mph" nullable:"true" doc:"By which times of arrival are reckoned."`
	Place            *rest.Place         `json:"place" doc:"From which they are."`
	DerivedStamps
}

// TransformSchema implements huma.SchemaTransformer.
func (RouteRun) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return rest.NullablePlace(s, "place")
}

// RouteRunStop is how it stands with a stop.
type RouteRunStop struct {
	ID        string         `json:"id" doc:"Of the stop in its plan." example:"1"`
	Status    string         `json:"status" enum:"pending,arrived,left,skipped,missed" doc:"skipped: a later stop was reached, and this one was not; missed: not reached in time. Either may still be reached."`
	ArrivedAt record.Instant `json:"arrived_at"`
	LeftAt    record.Instant `json:"left_at"`
	Passed    bool           `json:"passed" doc:"No fix inside: the line between two fixes passes through."`
	Late      bool           `json:"late" doc:"Not reached by its arrive_until."`
	ETA       record.Instant `json:"eta" doc:"When it will be reached, of a stop to come."`
	ETAErrorS *float64       `json:"eta_error_s" nullable:"true" doc:"By how much that may be off: 60 s and 40 % of the driving time to there."`
}

func showRouteRunStop(x *fleet.RunStop) RouteRunStop {
	view := RouteRunStop{ID: x.ID, Status: "pending", Passed: x.Passed, Late: x.Missed != 0,
		ArrivedAt: rest.Instant(x.Arrived), LeftAt: rest.Instant(x.Left),
		ETA: rest.Instant(x.ETA)}
	switch {
	case x.Left != 0:
		view.Status = "left"
	case x.Arrived != 0:
		view.Status = "arrived"
	case x.Missed != 0:
		view.Status = "missed"
	case x.Skipped:
		view.Status = "skipped"
	}
	if x.ETA != 0 {
		off := rest.Seconds(x.ETAError)
		view.ETAErrorS = &off
	}
	return view
}

func (a *API) showRouteRuns(_ *http.Request, rows []query.Derived[*fleet.RouteRun]) ([]RouteRun, error) {
	views := make([]RouteRun, len(rows))
	for i := range rows {
		d, e := &rows[i], rows[i].Entity
		view := RouteRun{
			ID: DerivedID(e), Object: "route_run", VehicleID: d.Vehicle.String(), RoutePlanID: e.Plan.String(),
			RoutePlanVersion: e.Revision,
			Status:           "under_way", StartAt: rest.Instant(e.Start), EndAt: rest.Instant(e.End),
			LocalOn: d.LocalDate.Format("2006-01-02"),
			Stops:   make([]RouteRunStop, len(e.Stops)), OffCorridorS: rest.Seconds(e.Off),
			OffCorridorSince: rest.Instant(e.OffSince),
			Place:            a.PlaceOrNull(e.Place), DerivedStamps: derivedStamps(d),
		}
		if e.ClosedReason != "" {
			view.Status = e.ClosedReason
		}
		if e.Speed != 0 {
			speed := units.MphOf(e.Speed)
			view.SpeedMph = &speed
		}
		for j := range e.Stops {
			x := &e.Stops[j]
			view.Stops[j] = showRouteRunStop(x)
			if x.Arrived != 0 {
				view.StopsReached++
			}
			if x.Missed != 0 {
				view.StopsMissed++
			}
		}
		views[i] = view
	}
	return views, nil
}

// progress answers with the newest run of the plan in the path.
func (a *API) progress(w http.ResponseWriter, r *http.Request, log *record.Log[record.RoutePlan]) error {
	id, err := rest.PathID(r, "route plan", fleet.PlanPrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rec, err := log.Get(r.Context(), account, id)
	if err != nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, rec.Body.VehicleID)
	if err != nil {
		return err
	}
	filter := query.DerivedFilter{Account: account, Vehicles: []fleet.VehicleID{fleet.VehicleID(vehicle)},
		Plan: fleet.PlanID(id), Limit: 1}
	for d, err := range query.RouteRuns.List(r.Context(), a.DB, filter) {
		if err != nil {
			return err
		}
		views, err := a.showRouteRuns(r, []query.Derived[*fleet.RouteRun]{d})
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, views[0])
	}
	zone, err := query.ZoneOf(r.Context(), a.DB, account, fleet.VehicleID(vehicle))
	if err != nil {
		return err
	}
	planned := RouteRun{
		Object: "route_run", VehicleID: rec.Body.VehicleID, RoutePlanID: fleet.FormatID(fleet.PlanPrefix, id),
		RoutePlanVersion: rec.Revision,
		Status:           "planned", StartAt: rec.Body.StartsAt, EndAt: rec.Body.EndsAt,
		LocalOn: rec.Body.StartsAt.In(zone).Format("2006-01-02"), Stops: []RouteRunStop{},
	}
	planned.Provisional, planned.UpdatedAt = true, record.InstantOf(rec.UpdatedAt)
	for _, s := range rec.Body.Stops {
		planned.Stops = append(planned.Stops, showRouteRunStop(&fleet.RunStop{ID: s.ID}))
	}
	return rest.WriteJSON(w, r, http.StatusOK, planned)
}
