package track

import (
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// Score is a safety score with everything that it is made of.
type Score struct {
	Object              string         `json:"object" doc:"Always score." example:"score"`
	VehicleID           *string        `json:"vehicle_id,omitempty" doc:"Of the score of a vehicle." example:"veh_1234"`
	DriverID            *string        `json:"driver_id,omitempty" doc:"Of the score of a driver who is known by id." example:"cus_1234"`
	Driver              *string        `json:"driver,omitempty" doc:"Of the score of a driver who is known by name."`
	From                record.Instant `json:"from"`
	To                  record.Instant `json:"until"`
	Score               *float64       `json:"score" nullable:"true" doc:"0 to 100, the higher the safer; null for less than 10 km."`
	DefinitionsVersion  string         `json:"definitions_version" doc:"Of the formula."`
	Trips               uint64         `json:"trips" doc:"That began in the span."`
	DistanceMi          units.Miles    `json:"distance_mi" doc:"Of these trips, as far as it was recorded."`
	MovingS             float64        `json:"moving_s" doc:"Of these trips."`
	HarshBraking        uint64         `json:"harsh_braking"`
	HarshAcceleration   uint64         `json:"harsh_acceleration"`
	HarshCornering      uint64         `json:"harsh_cornering"`
	Crashes             uint64         `json:"crashes"`
	Speeding            uint64         `json:"speeding" doc:"Spans above the limit."`
	SpeedingS           float64        `json:"speeding_s" doc:"Time above the limit."`
	HarshPer100Km       *float64       `json:"harsh_events_per_100_km" nullable:"true" doc:"Harsh braking, acceleration and cornering over the distance; null without any."`
	SpeedingShareOfTime *int64         `json:"speeding_share_bp" nullable:"true" doc:"speeding_s over moving_s; in basis points: 250 is 2.5 %; null without any. Above 10000 it counts as that: a span may begin within a trip."`
}

// maxScored is the longest span of the scores of drivers, which are made of every trip in it.
const maxScored = 366 * 24 * time.Hour

func (a *API) scoreRoutes() {
	span := rest.SpanParams("30 days")
	const about = "Trips and driving events that began in the span, the sums that the score is made of, and the version of its formula. The score is null for less than 10 km; otherwise it is 100 less, for each incident in 100 km, " +
		"10 (braking), 8 (acceleration, cornering) or 100 (crash), and less 1 for each percent of the moving time above the limit of a geofence or of the road, where one is known; at least 0."
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/score", ID: "getVehicleScore", Tag: "Trips",
		Scope:   auth.TelematicsRead,
		Summary: "Safety score of a vehicle", About: about, Params: span, Reply: Score{},
	}, a.vehicleScore)
	sorted := append([]rest.Param{
		{Name: "sort", Enum: []string{"score", "-score"},
			About: "`score` begins with the least safe; those without a score come last."}, rest.FormatParam(export.Tables),
	}, rest.PageParams...)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/score", ID: "listVehicleScores", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Safety scores of vehicles", About: about + " Vehicles that did not drive are left out.",
		Params: append(append([]rest.Param{{Name: "vehicle_id", NotEmpty: true,
			About: "Only these vehicles, separated by commas; at most 1000."}}, span...), sorted...),
		Reply: rest.List[Score]{}, ReplyTypes: export.MediaTypes(export.Tables),
	}, func(w http.ResponseWriter, r *http.Request) error {
		vehicles, err := rest.IDsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix)
		if err != nil {
			return err
		}
		return a.listScores(w, r, func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error) {
			return query.VehicleSums(r.Context(), a.DB, account, vehicles, from, to)
		})
	})
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/drivers/score", ID: "listDriverScores", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Safety scores of drivers", About: about +
			" A trip counts for its driver, a driving event for who was at the wheel then; what has no driver counts for nobody. The span is at most 366 days.",
		Params: append(append([]rest.Param{}, span...), sorted...),
		Reply:  rest.List[Score]{}, ReplyTypes: export.MediaTypes(export.Tables),
	}, func(w http.ResponseWriter, r *http.Request) error {
		return a.listScores(w, r, func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error) {
			if to-from > fleet.Millis(maxScored/time.Millisecond) {
				return nil, rest.InvalidParam("from", "must be at most 366 days before until")
			}
			db, err := a.LongTurn(w, r)
			if err != nil {
				return nil, err
			}
			return a.driverSums(r.Context(), db, account, from, to)
		})
	})
}

func (a *API) vehicleScore(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	from, to, err := scoreSpan(r, fleet.MillisOf(a.Now()))
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	all, err := query.VehicleSums(r.Context(), a.DB, account, []fleet.VehicleID{fleet.VehicleID(id)}, from, to)
	if err != nil {
		return err
	}
	sums := query.DrivingSums{Vehicle: fleet.VehicleID(id)}
	if len(all) > 0 {
		sums = all[0]
	}
	return rest.WriteJSON(w, r, http.StatusOK, showScore(&sums, from, to))
}

func (a *API) listScores(w http.ResponseWriter, r *http.Request,
	read func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error)) error {
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
	}
	list := r.URL.Path + "?" + rest.TextParam(r, "sort", "")
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	begin, now, err := a.PartOf(p)
	if err != nil {
		return err
	}
	from, to, err := scoreSpan(r, now)
	if err != nil {
		return err
	}
	all, err := read(auth.From(r.Context()).Account, from, to)
	if err != nil {
		return err
	}
	views := make([]Score, len(all))
	for i := range all {
		views[i] = showScore(&all[i], from, to)
	}
	if order := rest.TextParam(r, "sort", ""); order != "" {
		sort.SliceStable(views, func(i, j int) bool {
			x, y := views[i].Score, views[j].Score
			switch {
			case x == nil || y == nil:
				return x != nil
			case strings.HasPrefix(order, "-"):
				return *x > *y
			}
			return *x < *y
		})
	}
	if format != export.JSON {
		return a.DownloadViews(w, r, format, "scores", Score{}, func(yield func(any, error) bool) {
			for i := range views {
				if !yield(views[i], nil) {
					return
				}
			}
		})
	}
	return rest.WritePart(w, r, list, p, views, begin, to)
}

func showScore(s *query.DrivingSums, from, to fleet.Millis) Score {
	view := Score{
		Object: "score", From: rest.Instant(from), To: rest.Instant(to), DefinitionsVersion: fleet.ScoreVersion,
		Trips: s.Trips, DistanceMi: units.MilesOf(s.Distance),
		MovingS: units.Rounded(s.Moving, 3), HarshBraking: s.Braking, HarshAcceleration: s.Speedup,
		HarshCornering: s.Cornering, Crashes: s.Crashes,
		Speeding: s.Speeding, SpeedingS: units.Rounded(s.Seconds, 3),
		HarshPer100Km:       rest.Ratio(float64(s.Braking+s.Speedup+s.Cornering)*100_000, s.Distance, 3),
		SpeedingShareOfTime: rest.BasisPoints(s.Seconds, s.Moving),
	}
	if s.Vehicle != 0 {
		view.VehicleID = rest.TextOrNull(s.Vehicle.String())
	} else {
		view.DriverID, view.Driver = driverOf(s.Driver)
	}
	score, ok := fleet.Score(fleet.ScoreInput{
		Distance: s.Distance, Driving: fleet.Millis(s.Moving * 1000), Speeding: fleet.Millis(s.Seconds * 1000),
		Braking: int(s.Braking), Accelerations: int(s.Speedup), Cornering: int(s.Cornering), Crashes: int(s.Crashes),
	})
	if ok {
		score = units.Rounded(score, 1)
		view.Score = &score
	}
	return view
}
