package track

import (
	"cmp"
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

// Mileage is what a vehicle drove on a local day, in a month, or in the whole span.
type Mileage struct {
	Object       string             `json:"object" doc:"Always mileage." example:"mileage"`
	VehicleID    string             `json:"vehicle_id" example:"veh_1234"`
	On           string             `json:"on" format:"date" doc:"The local day, the first one of the month, or from."`
	Trips        uint64             `json:"trips" doc:"That began then."`
	DistanceMi   units.Miles        `json:"distance_mi"`
	EstimatedMi  units.Miles        `json:"distance_estimated_mi" doc:"Of it, what was driven unseen."`
	MovingS      float64            `json:"moving_s"`
	IdleS        float64            `json:"idle_s" doc:"On trips, with the engine on and not moving."`
	MaxSpeedMph  units.MilesPerHour `json:"max_speed_mph"`
	FirstStartAt record.Instant     `json:"from" doc:"Of the first of the trips."`
	LastEndAt    record.Instant     `json:"until" doc:"Of the last."`
	Provisional  bool               `json:"provisional" doc:"One of the trips goes on."`
}

func (a *API) mileageRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/reports/mileage", ID: "listMileage", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "What vehicles drove, by day or month",
		About: "Any span, a row for each vehicle and local day (or month, or `by=total`) on which it drove, by vehicle and day. A trip counts whole on the day of its start where the vehicle is at home, " +
			"so that days side by side count nothing twice.",
		Params: append([]rest.Param{
			{Name: "vehicle_id", NotEmpty: true, About: "Only these vehicles, separated by commas; at most 1000."},
			{Name: "from", Format: "date", Required: true, About: "Local day from which, inclusive."},
			{Name: "until", Format: "date", Required: true, About: "Local day up to which, inclusive."},
			{Name: "by", Enum: []string{"day", "month", "total"}, About: "`day` unless given."},
			rest.FormatParam(export.Tables),
		}, rest.PageParams...),
		Reply: a.ListSchema(Mileage{}), ReplyTypes: export.MediaTypes(export.Tables), Timeout: rest.ExportTime,
	}, a.mileage)
}

// mileageFilter reads what is asked for.
func (a *API) mileageFilter(r *http.Request) (query.MileageFilter, error) {
	f := query.MileageFilter{Account: auth.From(r.Context()).Account, By: rest.TextParam(r, "by", "day")}
	var err error
	if f.Vehicles, err = rest.IDsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix); err != nil {
		return f, err
	}
	for _, day := range []struct {
		name string
		to   *time.Time
	}{{"from", &f.From}, {"until", &f.To}} {
		at, err := time.Parse(time.DateOnly, rest.TextParam(r, day.name, ""))
		if err != nil || at.Year() < 1971 || at.Year() > 2148 { // the days that a Date of ClickHouse has
			return f, rest.InvalidParam(day.name, "must be a day of the years 1971 to 2148")
		}
		*day.to = at
	}
	if f.To.Before(f.From) {
		return f, rest.InvalidParam("until", "must not be before from")
	}
	return f, nil
}

func (a *API) mileage(w http.ResponseWriter, r *http.Request) error {
	f, err := a.mileageFilter(r)
	if err != nil {
		return err
	}
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
		return a.mileageTable(w, r, format, f)
	}
	list := r.URL.Path + "?" + f.By
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	if p.After != nil {
		vehicle, wrong := strconv.ParseUint(p.After[0], 10, 64)
		on, err := time.Parse(time.DateOnly, p.After[len(p.After)-1])
		if err = cmp.Or(err, wrong); err != nil {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list")
		}
		f.AfterVehicle, f.AfterOn = fleet.VehicleID(vehicle), on
	}
	total, err := query.MileageCount(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	rows, err := query.MileageOf(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	var after []string
	if len(rows) > p.PerPage {
		rows = rows[:p.PerPage]
		last := &rows[len(rows)-1]
		after = []string{strconv.FormatUint(uint64(last.Vehicle), 10), last.On.Format(time.DateOnly)}
	}
	views := make([]Mileage, len(rows))
	for i := range rows {
		views[i] = showMileage(&rows[i])
	}
	return rest.WriteList(w, r, list, p, views, total, after)
}

// mileageTable answers with all rows, which are read page by page.
func (a *API) mileageTable(w http.ResponseWriter, r *http.Request, format export.Format, f query.MileageFilter) error {
	f.Limit = mileagePage
	return a.DownloadViews(w, r, format, "mileage", Mileage{}, func(yield func(any, error) bool) {
		for {
			rows, err := query.MileageOf(r.Context(), a.Long, f)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range rows {
				if !yield(showMileage(&rows[i]), nil) {
					return
				}
			}
			if len(rows) < mileagePage {
				return
			}
			f.AfterVehicle, f.AfterOn = rows[len(rows)-1].Vehicle, rows[len(rows)-1].On
		}
	})
}

// mileagePage is how many rows a download reads at a time.
const mileagePage = 10_000

func showMileage(m *query.Mileage) Mileage {
	return Mileage{
		Object: "mileage", VehicleID: m.Vehicle.String(), On: m.On.Format(time.DateOnly), Trips: m.Trips,
		DistanceMi:  units.MilesOf(m.Distance),
		EstimatedMi: units.MilesOf(m.Estimated), MovingS: units.Rounded(m.Moving, 3), IdleS: units.Rounded(m.Idle, 3),
		MaxSpeedMph:  units.MphOf(m.MaxSpeed),
		FirstStartAt: rest.Instant(m.First), LastEndAt: rest.Instant(m.Last), Provisional: m.Open,
	}
}
