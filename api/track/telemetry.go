package track

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Sample is one measurement of a signal, or, with interval, what the measurements of a bucket come to. Answers are
// written from export rows with the same members in the same order; the type describes them.
type Sample struct {
	Signal string    `json:"signal" doc:"Name of the signal; its unit is the suffix." example:"soc_pct"`
	Unit   string    `json:"unit" example:"percent"`
	At     time.Time `json:"at" doc:"Of the measurement, or the start of the bucket."`
	Value  *float64  `json:"value,omitempty" doc:"Only without interval."`
	Min    *float64  `json:"min,omitempty" doc:"This and the following only with interval."`
	Max    *float64  `json:"max,omitempty"`
	Mean   *float64  `json:"mean,omitempty" doc:"Of the last values of the bucket's minutes: it weighs time, not how often the device reports."`
	First  *float64  `json:"first,omitempty"`
	Last   *float64  `json:"last,omitempty"`
}

// intervals are the lengths of buckets, by name, the shortest first.
var intervals = []struct {
	name   string
	length time.Duration
}{
	{"1m", time.Minute}, {"5m", 5 * time.Minute}, {"15m", 15 * time.Minute}, {"30m", 30 * time.Minute}, {"1h", time.Hour},
	{"3h", 3 * time.Hour}, {"6h", 6 * time.Hour}, {"12h", 12 * time.Hour}, {"1d", 24 * time.Hour},
}

// autoBuckets is how many buckets of a signal interval=auto gives at most, if the longest interval suffices for it.
const autoBuckets = 500

func (a *API) telemetryRoutes() {
	names := []string{"auto"}
	for _, i := range intervals {
		names = append(names, i.name)
	}
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/telemetry", ID: "listVehicleTelemetry", Tag: "Tracking",
		Scope:   auth.TelematicsRead,
		Summary: "Measurements of a vehicle",
		About: "Rows by signal and time: without `interval` each measurement, with it the minimum, maximum, mean, first and last of each bucket. " +
			"Buckets are whole intervals of UTC, so the first and the last may reach beyond `from` and `until`. A mean is that of the last values of the bucket's minutes. " +
			"Signals are in the SI units of their names whatever `units` says.",
		Params: append([]rest.Param{
			{Name: "signals", NotEmpty: true, About: "Names of signals, separated by commas; all unless given."},
			{Name: "from", Format: "date-time", About: "Time from which, inclusive."},
			{Name: "until", Format: "date-time", About: "Time up to which, exclusive."},
			{Name: "interval", Enum: names,
				About: "Length of a bucket; `auto` chooses one that gives at most 500 buckets for each signal, and needs `from` and `until`."},
			rest.FormatParam(export.Tables),
		}, rest.LargePageParams(trackPage, maxTrackPage)...),
		Reply: rest.List[Sample]{}, ReplyTypes: export.MediaTypes(export.Tables), Timeout: rest.ExportTime,
	}, a.listTelemetry)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/telemetry/latest", ID: "listLatestTelemetry", Tag: "Tracking",
		Scope:   auth.TelematicsRead,
		Summary: "Newest measurement of each signal of a vehicle",
		Reply:   rest.List[Sample]{},
	}, a.listLatestTelemetry)
}

// SampleColumns are the columns of samples as a table: one value each, or with buckets five.
func SampleColumns(buckets bool) []export.Column {
	columns := []export.Column{{Name: "signal", Kind: export.Text}, {Name: "unit", Kind: export.Text},
		{Name: "at", Kind: export.Instant}}
	names := []string{"value"}
	if buckets {
		names = []string{"min", "max", "mean", "first", "last"}
	}
	for _, name := range names {
		columns = append(columns, export.Column{Name: name, Kind: export.Number})
	}
	return columns
}

func sampleRow(row []export.Value, s *query.Sample, buckets bool) []export.Value {
	unit := ""
	if signal, ok := fleet.SignalNamed(s.Signal); ok {
		unit = signal.Spec().Unit
	}
	row = append(row, export.TextOf(s.Signal), export.TextOf(unit), export.InstantOf(s.At))
	if !buckets {
		return append(row, export.ExactOf(s.Value))
	}
	return append(row, export.ExactOf(s.Min), export.ExactOf(s.Max), export.NumberOf(s.Mean, 6), export.ExactOf(s.First),
		export.ExactOf(s.Last))
}

func sampleRows(samples iter.Seq2[query.Sample, error], buckets bool) iter.Seq2[rest.RowKey, error] {
	return func(yield func(rest.RowKey, error) bool) {
		var row []export.Value
		var s query.Sample
		key := func() []string { return []string{s.Signal, strconv.FormatInt(int64(s.At), 10)} }
		for next, err := range samples {
			if err != nil {
				yield(rest.RowKey{}, err)
				return
			}
			s = next
			row = sampleRow(row[:0], &s, buckets)
			if !yield(rest.RowKey{Row: row, Key: key}, nil) {
				return
			}
		}
	}
}

func (a *API) listTelemetry(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	f, err := seriesFilter(r, account, fleet.VehicleID(id))
	if err != nil {
		return err
	}
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	buckets := f.Every != 0
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
		db, err := a.LongTurn(w, r)
		if err != nil {
			return err
		}
		return a.Download(w, r, format, f.Vehicle.String()+"-telemetry", func(w http.ResponseWriter) error {
			return rest.WriteTable(w, format, SampleColumns(buckets), sampleRows(query.Series(r.Context(), db, f), buckets))
		})
	}
	list := strings.Join([]string{"telemetry", f.Vehicle.String(), f.Every.String(), rest.TextParam(r, "signals", "")},
		"/")
	p, err := rest.LargePage(r, list, trackPage)
	if err != nil {
		return err
	}
	total, err := query.CountSeries(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	if p.After != nil {
		at, err := strconv.ParseInt(p.After[len(p.After)-1], 10, 64)
		if err != nil {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list")
		}
		f.AfterSignal, f.AfterTime = p.After[0], fleet.Millis(at)
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	return rest.WriteRows(w, r, list, p, total, SampleColumns(buckets),
		sampleRows(query.Series(r.Context(), a.DB, f), buckets))
}

// seriesFilter reads what the parameters say of the wanted measurements.
func seriesFilter(r *http.Request, account fleet.AccountID, vehicle fleet.VehicleID) (query.SeriesFilter, error) {
	f := query.SeriesFilter{Account: account, Vehicle: vehicle, From: rest.TimeParam(r, "from", 0),
		To: rest.TimeParam(r, "until", 0)}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return f, err
	}
	for _, name := range rest.ListParam(r, "signals") {
		s, ok := fleet.SignalNamed(name)
		if !ok {
			return f, rest.InvalidParam("signals",
				"has "+strconv.Quote(name)+", which is no signal of the catalogue"+rest.DidYouMean(name, rest.SignalNames()))
		}
		if !slices.Contains(f.Signals, s) {
			f.Signals = append(f.Signals, s)
		}
	}
	if len(f.Signals) == 0 {
		for s := range fleet.Signals {
			f.Signals = append(f.Signals, fleet.Signal(s))
		}
	}
	wanted := rest.TextParam(r, "interval", "")
	if wanted == "auto" && (!r.URL.Query().Has("from") || f.To == 0) {
		return f, rest.InvalidParam("interval", "auto needs from and until")
	}
	for _, i := range intervals {
		if i.name == wanted || wanted == "auto" {
			f.Every = i.length
		}
		if wanted == "auto" && f.To.Sub(f.From) <= autoBuckets*i.length {
			break
		}
	}
	return f, nil
}

func (a *API) listLatestTelemetry(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	all, err := query.LatestTelemetry(r.Context(), a.DB, account, fleet.VehicleID(id))
	if err != nil {
		return err
	}
	samples := func(yield func(query.Sample, error) bool) {
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
	p := rest.Page{Number: 1, PerPage: max(len(all), 1)}
	return rest.WriteRows(w, r, "", p, len(all), SampleColumns(false), sampleRows(samples, false))
}
