package track

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// RouteHistory is where a vehicle has been in a span.
type RouteHistory struct {
	VehicleID string         `json:"vehicle_id" example:"veh_1234"`
	From      record.Instant `json:"from"`
	To        record.Instant `json:"until"`
	Totals    RouteTotals    `json:"totals"`
	Legs      []RouteLeg     `json:"legs" nullable:"false" doc:"Trips, stops, unrecorded ways and gaps in the order of time. Trips and stops that overlap the span are whole."`
}

// RouteTotals sums up the legs of a route, which are whole: spans side by side may both have a leg.
type RouteTotals struct {
	Trips       int                `json:"trips"`
	Stops       int                `json:"stops"`
	Gaps        int                `json:"gaps"`
	Unrecorded  int                `json:"unrecorded" doc:"Ways between two places over which nothing was heard; they are not among the trips."`
	DistanceMi  units.Miles        `json:"distance_mi" doc:"Of trips and unrecorded ways: recorded and estimated."`
	EstimatedMi units.Miles        `json:"distance_estimated_mi" doc:"Of distance_mi: on trips and on unrecorded ways, where nothing was heard. The rest is recorded."`
	MovingS     float64            `json:"moving_s" doc:"Recorded time on the move."`
	UnrecordedS float64            `json:"unrecorded_s" doc:"Time on ways over which nothing was heard."`
	IdleS       float64            `json:"idle_s" doc:"With the engine on and not moving, on trips and at stops."`
	StoppedS    float64            `json:"stopped_s" doc:"Of the stops."`
	UnknownS    float64            `json:"unknown_s" doc:"Of the gaps."`
	MaxSpeedMph units.MilesPerHour `json:"max_speed_mph"`
}

// RouteLeg is a trip, a stop, an unrecorded way, or a gap of more than a minute between them in which nothing is known.
type RouteLeg struct {
	Kind       string          `json:"kind" doc:"trip, stop, unrecorded (the vehicle was found elsewhere after a silence; trip tells of that way) or gap."`
	StartAt    record.Instant  `json:"from"`
	EndAt      record.Instant  `json:"until"`
	DurationS  float64         `json:"duration_s"`
	StartPlace rest.Place      `json:"start_place"`
	EndPlace   rest.Place      `json:"end_place"`
	Trip       *Trip           `json:"trip,omitempty"`
	Stop       *Stop           `json:"stop,omitempty"`
	Geometry   json.RawMessage `json:"geometry,omitempty" doc:"GeoJSON: the LineString of a trip or an unrecorded way (null for fewer than two positions), the Point of a stop; none for a gap."`
}

// maxRouteSpan bounds the span of a route with its lines, maxRouteLegs the trips and stops of any.
const (
	maxRouteSpan = 92 * 24 * time.Hour
	maxRouteLegs = 50_000
)

// checkLegs refuses a route of more legs than one answer holds.
func (a *API) checkLegs(r *http.Request, f query.DerivedFilter) error {
	trips, err := query.Trips.Count(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	stops, err := query.Stops.Count(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	if n := trips + stops; n > maxRouteLegs {
		return rest.InvalidParam("until", "makes a route of "+strconv.Itoa(int(n))+" trips and stops, and at most "+
			strconv.Itoa(maxRouteLegs)+" are answered: choose a shorter span, or page through /v1/trips")
	}
	return nil
}

func (a *API) routeHistoryRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/route", ID: "getVehicleRoute", Tag: "Trips",
		Scope:   auth.TelematicsRead,
		Summary: "Route history of a vehicle",
		About: "Trips, stops, unrecorded ways and the gaps between them, with sums and geometry. At most 92 days and " +
			strconv.Itoa(maxSimplified) +
			" positions; `geometry=false` leaves the positions out, and answers any span of at most " +
			strconv.Itoa(maxRouteLegs) + " trips and stops. " +
			"`max_points` is shared by the trips by their length in positions. `format=geojson` answers a Feature for each trip and stop; the other formats answer the positions of the trips.",
		Params: append([]rest.Param{
			rest.Required(rest.FromParam),
			rest.Required(rest.UntilParam),
			{Name: "geometry", Type: "boolean", About: "`false` answers without geometry."},
		}, geometryParams...),
		Reply: RouteHistory{}, ReplyTypes: export.MediaTypes(export.Tracks), Timeout: rest.ExportTime,
	}, a.getRoute)
}

func (a *API) getRoute(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	account, vehicle := auth.From(r.Context()).Account, fleet.VehicleID(id)
	from, to := rest.TimeParam(r, "from", 0), rest.TimeParam(r, "until", 0)
	if err := rest.CheckSpan(from, to); err != nil {
		return err
	}
	format, err := rest.FormatOf(r, export.Tracks)
	if err != nil {
		return err
	}
	lines := rest.TextParam(r, "geometry", "") != "false" || format != export.JSON && format != export.GeoJSON
	if lines && to.Sub(from) > maxRouteSpan {
		return rest.InvalidParam("until", "is more than 92 days after from; with geometry=false any span is answered")
	}
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	filter := query.DerivedFilter{Account: account, Vehicles: []fleet.VehicleID{vehicle}, From: from, To: to}
	if err := a.checkLegs(r, filter); err != nil {
		return err
	}
	found, err := query.RouteOf(r.Context(), a.DB, filter)
	if err != nil {
		return err
	}
	var ways [][]fleet.Position
	if lines {
		if ways, err = a.waysOf(w, r, account, vehicle, found.Legs); err != nil {
			return err
		}
	}
	if format != export.JSON && format != export.GeoJSON {
		var all []fleet.Position
		for _, way := range ways {
			all = append(all, way...)
		}
		return a.downloadWay(w, r, vehicle.String()+"-route", vehicle, format, all)
	}
	view, err := a.showRoute(r, &found, ways)
	if err != nil {
		return err
	}
	if format == export.GeoJSON {
		features := []feature{}
		for i := range view.Legs {
			if leg := &view.Legs[i]; leg.Trip != nil {
				features = append(features, feature{view: leg.Trip, geometry: orNull(leg.Geometry)})
			} else if leg.Stop != nil {
				features = append(features, feature{view: leg.Stop, geometry: orNull(leg.Geometry)})
			}
		}
		return a.writeFeatures(w, r, vehicle.String()+"-route", features, true)
	}
	view.VehicleID, view.From, view.To = vehicle.String(), rest.Instant(from), rest.Instant(to)
	return rest.WriteJSON(w, r, http.StatusOK, view)
}

func orNull(geometry json.RawMessage) json.RawMessage {
	if geometry == nil {
		return json.RawMessage("null")
	}
	return geometry
}

// waysOf reads the positions of the trips of a route and simplifies them as the parameters ask: one slice for each leg,
// empty for what is no trip.
func (a *API) waysOf(w http.ResponseWriter, r *http.Request, account fleet.AccountID, vehicle fleet.VehicleID,
	legs []query.Leg) ([][]fleet.Position, error) {
	ways := make([][]fleet.Position, len(legs))
	var trips []int // the legs that are trips, in order of time
	for i := range legs {
		if legs[i].Trip != nil {
			trips = append(trips, i)
		}
	}
	if len(trips) == 0 {
		return ways, nil
	}
	f := wayOf(account, vehicle, legs[trips[0]].From, legs[trips[len(trips)-1]].To)
	f.Limit = 0 // those at stops are read and not kept
	total := 0
	db, err := a.LongTurn(w, r)
	if err != nil {
		return nil, err
	}
	for p, err := range query.Track(r.Context(), db, f) {
		if err != nil {
			return nil, err
		}
		for len(trips) > 0 && p.FixTime > legs[trips[0]].To {
			trips = trips[1:]
		}
		// One trip may end with the fix that the next begins with.
		for _, i := range trips[:min(2, len(trips))] {
			if legs[i].From <= p.FixTime {
				ways[i] = append(ways[i], p)
				total++
			}
		}
		if total > maxSimplified {
			return nil, tooLong()
		}
	}
	tolerance, keep := rest.NumberParam(r, "simplify_m", 0), rest.IntParam(r, "max_points", 0)
	for i, way := range ways {
		share := 0
		if keep > 0 && total > keep {
			share = max(2, keep*len(way)/total)
		}
		ways[i] = export.Simplify(way, tolerance, share)
	}
	return ways, nil
}

func (a *API) showRoute(r *http.Request, found *query.Route, ways [][]fleet.Position) (RouteHistory, error) {
	view := RouteHistory{Legs: make([]RouteLeg, len(found.Legs)), Totals: RouteTotals{
		Trips: found.Trips, Stops: found.Stops, Gaps: found.Gaps, Unrecorded: found.Unseen,
		DistanceMi:  units.MilesOf(found.Distance),
		EstimatedMi: units.MilesOf(found.Estimated), MovingS: rest.Seconds(found.Moving),
		UnrecordedS: rest.Seconds(found.Unrecorded), IdleS: rest.Seconds(found.Idle), StoppedS: rest.Seconds(found.Stopped),
		UnknownS: rest.Seconds(found.Unknown), MaxSpeedMph: units.MphOf(found.MaxSpeed),
	}}
	var rows []query.Derived[*fleet.Trip]
	for i := range found.Legs {
		if t := found.Legs[i].Trip; t != nil {
			rows = append(rows, *t)
		}
	}
	trips, err := a.showTrips(r, rows)
	if err != nil {
		return view, err
	}
	for i := range found.Legs {
		leg, shownLeg := &found.Legs[i], &view.Legs[i]
		*shownLeg = RouteLeg{
			Kind: "gap", StartAt: rest.Instant(leg.From), EndAt: rest.Instant(leg.To),
			DurationS:  rest.Seconds(leg.To - leg.From),
			StartPlace: a.Place(leg.Start), EndPlace: a.Place(leg.End),
		}
		switch {
		case leg.Trip != nil:
			shownLeg.Kind, shownLeg.Trip, trips = "trip", &trips[0], trips[1:]
			if leg.Trip.Entity.Unseen {
				shownLeg.Kind = "unrecorded"
			}
			if ways != nil {
				shownLeg.Geometry = lineString(ways[i])
			}
		case leg.Stop != nil:
			stops, err := a.showStops(r, []query.Derived[*fleet.Stop]{*leg.Stop})
			if err != nil {
				return view, err
			}
			shownLeg.Kind, shownLeg.Stop = "stop", &stops[0]
			if ways != nil {
				shownLeg.Geometry = point(leg.Start)
			}
		}
	}
	return view, nil
}

func point(p fleet.Place) json.RawMessage {
	text := []byte(`{"type":"Point","coordinates":[`)
	text = strconv.AppendFloat(text, p.Lng, 'f', -1, 64)
	text = append(text, ',')
	text = strconv.AppendFloat(text, p.Lat, 'f', -1, 64)
	return append(text, "]}"...)
}
