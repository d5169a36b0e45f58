package track

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/pair"
)

// Proximity is a time during which two vehicles were near each other, or apart.
type Proximity struct {
	Object         string         `json:"object" doc:"Always proximity." example:"proximity"`
	VehicleID      string         `json:"vehicle_id" example:"veh_1234"`
	OtherVehicleID string         `json:"other_vehicle_id" example:"veh_1235"`
	Relation       string         `json:"relation" enum:"near,apart"`
	StartAt        record.Instant `json:"from"`
	EndAt          record.Instant `json:"until"`
	DurationS      float64        `json:"duration_s"`
	DistanceM      float64        `json:"distance_m" doc:"The least, or of two that are apart the greatest."`
	Place          rest.Place     `json:"place" doc:"Of the first vehicle at that distance."`
}

// Bounds of one question.
const (
	maxPairVehicles = 10
	maxPairSpan     = 31 * 24 * time.Hour
	maxPairFixes    = 1_000_000 // of all vehicles, 24 bytes each
	maxPairFound    = 10_000
)

func (a *API) proximityRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/reports/proximity", ID: "listProximity", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "When vehicles were near each other, or apart",
		About: "Every pair of 2 to " + strconv.Itoa(maxPairVehicles) + " vehicles, over at most 31 days and " +
			strconv.Itoa(maxPairFixes) +
			" trusted positions, by time; all on one page. It is worked out of what is stored when it is asked for, " +
			"so that what came late counts like all else; a rule of the kind proximity raises alerts of it. Between two positions a vehicle goes straight and evenly; what lies between two that are farther apart in time than three times its usual interval (five minutes at least, an hour at most) is unknown, and ends what goes on, unless " +
			"the vehicle was found within 100 m of where it was.",
		Params: []rest.Param{
			{Name: "vehicle_id", Required: true, NotEmpty: true, About: "The vehicles, separated by commas."},
			{Name: "distance_m", Type: "number", Required: true, Min: 1, Max: 100_000, About: "In metres."},
			{Name: "relation", Enum: []string{"near", "apart"},
				About: "`near` (within distance_m, as unless given) or `apart` (farther)."},
			{Name: "min_duration_s", Type: "number", Min: 0, Max: 2_592_000, About: "Only what lasted so long; 0 unless given."},
			{Name: "from", Format: "date-time", Required: true,
				About: "Instant from which, inclusive; what began before is cut off there."},
			{Name: "until", Format: "date-time", Required: true, About: "Instant up to which, exclusive; likewise."},
			rest.FormatParam(export.Tables),
		},
		Reply: rest.List[Proximity]{}, ReplyTypes: export.MediaTypes(export.Tables), Timeout: rest.ExportTime,
	}, a.proximity)
}

// pairQuestion reads what is asked for.
func (a *API) pairQuestion(r *http.Request) (vehicles []fleet.VehicleID, q pair.Question,
	from, to fleet.Millis, err error) {
	q = pair.Question{Metres: rest.NumberParam(r, "distance_m", 0), Apart: rest.TextParam(r, "relation", "") == "apart",
		For: fleet.Millis(rest.NumberParam(r, "min_duration_s", 0) * 1000)}
	from, to = rest.TimeParam(r, "from", 0), rest.TimeParam(r, "until", 0)
	if err = rest.CheckSpan(from, to); err != nil {
		return
	}
	if to.Sub(from) > maxPairSpan {
		err = rest.InvalidParam("until", "is more than 31 days after from")
		return
	}
	if vehicles, err = rest.IDsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix); err != nil {
		return
	}
	slices.Sort(vehicles)
	if vehicles = slices.Compact(vehicles); len(vehicles) < 2 || len(vehicles) > maxPairVehicles {
		err = rest.InvalidParam("vehicle_id", fmt.Sprintf("must name 2 to %d vehicles", maxPairVehicles))
		return
	}
	for _, vehicle := range vehicles {
		if err = a.hasVehicle(r.Context(), auth.From(r.Context()).Account, uint64(vehicle)); err != nil {
			return
		}
	}
	return
}

func (a *API) proximity(w http.ResponseWriter, r *http.Request) error {
	vehicles, q, from, to, err := a.pairQuestion(r)
	if err != nil {
		return err
	}
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	tracks, err := pairTracks(r, db, vehicles, from, to)
	if err != nil {
		return err
	}
	views := []Proximity{}
	for i, first := range vehicles {
		for j := i + 1; j < len(vehicles); j++ {
			if err := r.Context().Err(); err != nil {
				return err
			}
			for _, s := range pair.Clip(pair.Spans(tracks[i], tracks[j], q), from, to, q) {
				views = append(views, a.showProximity(first, vehicles[j], &q, &s))
			}
			if len(views) > maxPairFound {
				return rest.InvalidParam("until",
					fmt.Sprintf("makes more than %d answers: choose a shorter span, or a longer min_duration_s", maxPairFound))
			}
		}
	}
	slices.SortStableFunc(views, func(x, y Proximity) int { return x.StartAt.Compare(y.StartAt.Time) })
	if format == export.JSON {
		return rest.WriteJSON(w, r, http.StatusOK,
			rest.List[Proximity]{Data: views, Pagination: rest.Pagination{Page: 1, PerPage: len(views), Total: len(views)}})
	}
	return a.DownloadViews(w, r, format, "proximity", Proximity{}, func(yield func(any, error) bool) {
		for i := range views {
			if !yield(views[i], nil) {
				return
			}
		}
	})
}

// pairTracks reads where the vehicles were, from a little before the span to a little after it.
func pairTracks(r *http.Request, db driver.Conn, vehicles []fleet.VehicleID,
	from, to fleet.Millis) ([][]pair.Fix, error) {
	const around = 24 * time.Hour // a parked vehicle may speak that seldom
	tracks, total := make([][]pair.Fix, len(vehicles)), 0
	for i, vehicle := range vehicles {
		f := wayOf(auth.From(r.Context()).Account, vehicle, max(from.Add(-around), 0), to.Add(around))
		f.Limit = 0
		for p, err := range query.Track(r.Context(), db, f) {
			if err != nil {
				return nil, err
			}
			fix := pair.Fix{At: p.FixTime, Place: fleet.Place{Lat: p.Lat, Lng: p.Lng}}
			if n := len(tracks[i]); n > 0 && p.FixTime < from && tracks[i][n-1].At < from {
				tracks[i][n-1] = fix // of those before, the last alone
				continue
			}
			tracks[i] = append(tracks[i], fix)
			if p.FixTime >= to {
				break
			}
			if total++; total > maxPairFixes {
				return nil, rest.InvalidParam("until",
					fmt.Sprintf("makes more than %d positions: choose a shorter span, or fewer vehicles", maxPairFixes))
			}
		}
	}
	return tracks, nil
}

func (a *API) showProximity(first, second fleet.VehicleID, q *pair.Question, s *pair.Span) Proximity {
	view := Proximity{
		Object: "proximity", VehicleID: first.String(), OtherVehicleID: second.String(), Relation: "near",
		StartAt: rest.Instant(s.From), EndAt: rest.Instant(s.To),
		DurationS: rest.Seconds(s.To - s.From), DistanceM: units.Rounded(s.Extreme, 1), Place: a.Place(s.At),
	}
	if q.Apart {
		view.Relation = "apart"
	}
	return view
}
