package api

import (
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
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
	DistanceMi          miles          `json:"distance_mi" doc:"Of these trips, as far as it was recorded."`
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
	span := spanParams("30 days")
	const about = "Trips and driving events that began in the span, the sums that the score is made of, and the version of its formula. The score is null for less than 10 km; otherwise it is 100 less, for each incident in 100 km, " +
		"10 (braking), 8 (acceleration, cornering) or 100 (crash), and less 1 for each percent of the moving time above the limit of a geofence or of the road, where one is known; at least 0."
	a.handle(route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/score", ID: "getVehicleScore", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Safety score of a vehicle", About: about, Params: span, Reply: Score{},
	}, a.vehicleScore)
	sorted := append([]param{
		{Name: "sort", Enum: []string{"score", "-score"}, About: "`score` begins with the least safe; those without a score come last."}, formatParam(export.Tables),
	}, pageParams...)
	a.handle(route{
		Method: http.MethodGet, Path: "/v1/vehicles/score", ID: "listVehicleScores", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Safety scores of vehicles", About: about + " Vehicles that did not drive are left out.",
		Params: append(append([]param{{Name: "vehicle_id", Some: true, About: "Only these vehicles, separated by commas; at most 1000."}}, span...), sorted...),
		Reply:  List[Score]{}, ReplyTypes: export.MediaTypes(export.Tables),
	}, func(w http.ResponseWriter, r *http.Request) error {
		vehicles, err := idsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix)
		if err != nil {
			return err
		}
		return a.listScores(w, r, func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error) {
			return query.VehicleSums(r.Context(), a.DB, account, vehicles, from, to)
		})
	})
	a.handle(route{
		Method: http.MethodGet, Path: "/v1/drivers/score", ID: "listDriverScores", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Safety scores of drivers", About: about + " A trip counts for its driver, a driving event for who was at the wheel then; what has no driver counts for nobody. The span is at most 366 days.",
		Params: append(append([]param{}, span...), sorted...),
		Reply:  List[Score]{}, ReplyTypes: export.MediaTypes(export.Tables),
	}, func(w http.ResponseWriter, r *http.Request) error {
		return a.listScores(w, r, func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error) {
			if to-from > fleet.Millis(maxScored/time.Millisecond) {
				return nil, invalidParam("from", "must be at most 366 days before until")
			}
			db, err := a.long(w, r)
			if err != nil {
				return nil, err
			}
			return driverSums(r.Context(), db, account, from, to)
		})
	})
}

func (a *API) vehicleScore(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	from, to, err := scoreSpan(r, fleet.MillisOf(a.Now()))
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	if _, err := a.vehicles.Get(r.Context(), account, id); err != nil {
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
	return writeJSON(w, r, http.StatusOK, showScore(&sums, from, to))
}

func (a *API) listScores(w http.ResponseWriter, r *http.Request, read func(account fleet.AccountID, from, to fleet.Millis) ([]query.DrivingSums, error)) error {
	format, err := formatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := wholeOnly(r, "format="+string(format)); err != nil {
			return err
		}
	}
	list := r.URL.Path + "?" + textParam(r, "sort", "")
	p, err := pageOf(r, list)
	if err != nil {
		return err
	}
	begin, now, err := a.partOf(p)
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
	if order := textParam(r, "sort", ""); order != "" {
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
		return a.downloadViews(w, r, format, "scores", Score{}, func(yield func(any, error) bool) {
			for i := range views {
				if !yield(views[i], nil) {
					return
				}
			}
		})
	}
	return writePart(w, r, list, p, views, begin, to)
}

func showScore(s *query.DrivingSums, from, to fleet.Millis) Score {
	view := Score{
		Object: "score", From: instant(from), To: instant(to), DefinitionsVersion: fleet.ScoreVersion, Trips: s.Trips, DistanceMi: milesOf(s.Distance),
		MovingS: rounded(s.Moving, 3), HarshBraking: s.Braking, HarshAcceleration: s.Speedup, HarshCornering: s.Cornering, Crashes: s.Crashes,
		Speeding: s.Speeding, SpeedingS: rounded(s.Seconds, 3), HarshPer100Km: ratio(float64(s.Braking+s.Speedup+s.Cornering)*100_000, s.Distance, 3),
		SpeedingShareOfTime: shareOf(s.Seconds, s.Moving),
	}
	if s.Vehicle != 0 {
		view.VehicleID = textOrNull(s.Vehicle.String())
	} else {
		view.DriverID, view.Driver = driverOf(s.Driver)
	}
	score, ok := fleet.Score(fleet.ScoreInput{
		Distance: s.Distance, Driving: fleet.Millis(s.Moving * 1000), Speeding: fleet.Millis(s.Seconds * 1000),
		Braking: int(s.Braking), Accelerations: int(s.Speedup), Cornering: int(s.Cornering), Crashes: int(s.Crashes),
	})
	if ok {
		score = rounded(score, 1)
		view.Score = &score
	}
	return view
}
