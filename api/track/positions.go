package track

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// Position is a position as answers show it. Answers are written from export rows with the same members in the same
// order; the type describes them.
type Position struct {
	FixAt      time.Time `json:"fix_at" doc:"When the fix was taken, by the satellites' clock." example:"2026-01-31T12:00:00.000Z"`
	DeviceAt   time.Time `json:"device_at" doc:"What the unit's own clock said."`
	ReceivedAt time.Time `json:"received_at" doc:"When it reached us."`
	Lat        float64   `json:"lat" doc:"Degrees WGS 84."`
	Lng        float64   `json:"lng" doc:"Degrees WGS 84."`
	AltitudeM  *float64  `json:"altitude_m" nullable:"true"`
	SpeedMph   *float64  `json:"speed_mph" nullable:"true" doc:"Over ground."`
	CourseDeg  *float64  `json:"course_deg" nullable:"true" doc:"Direction of travel, degrees from true north."`
	AccuracyM  *float64  `json:"accuracy_m" nullable:"true" doc:"Radius."`
	Satellites *int      `json:"satellites" nullable:"true"`
	Ignition   *bool     `json:"ignition" nullable:"true"`
	OdometerMi *float64  `json:"odometer_mi" nullable:"true" doc:"As the vehicle reports it; may reset."`
	Address    *string   `json:"address" nullable:"true" doc:"Words for the place."`
	H3         string    `json:"h3" doc:"H3 cell of resolution 9." example:"89489e34e6bffff"`
	Flags      []string  `json:"flags" nullable:"false" doc:"What is doubtful about it; empty for most."`
	DeviceID   string    `json:"device_id" example:"dev_1234"`
}

// LatestPosition is the last known position of a vehicle.
type LatestPosition struct {
	VehicleID string `json:"vehicle_id" example:"veh_1234"`
	Position
	DistanceM *float64 `json:"distance_m,omitempty" doc:"From the place given as near; only with it."`
}

// Bounds of tracks.
const (
	trackPage      = 1000    // positions on a page unless given
	maxTrackPage   = 10_000  // at most
	maxSimplified  = 100_000 // positions that are simplified at once
	latestPage     = 100     // last known positions on a page unless given
	maxLatestPage  = 1000    // at most
	maxNearRadius  = 2e7     // m, nearly half round the Earth
	polylineDigits = 5
)

// latestForms are the forms of last known positions.
var latestForms = slices.Concat(export.Tables, []export.Format{export.GeoJSON})

func (a *API) positionRoutes() {
	a.LivePosition = a.writeLatest
	a.Events.Derived(fleet.KindPosition, eventview.View{Of: LatestPosition{}, Show: a.toldPosition})
	a.Events.At(fleet.KindPosition, "/v1/positions/latest?vehicle_id=")
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/positions/latest", ID: "listLatestPositions", Tag: "Tracking",
		Scope:   auth.TelematicsRead,
		Summary: "Last known position of every vehicle",
		About: "The newest trusted position of each vehicle that is not archived and has one. Doubtful positions (late, jumps, parked drift, …) do not count. " +
			"`format=geojson` answers a FeatureCollection of points for a map: the properties are the members of a position and, for keys that have `vehicles:read`, `status`, that of the vehicle.",
		Params: append([]rest.Param{
			{Name: "vehicle_id", NotEmpty: true, About: "Only these vehicles, separated by commas; at most 1000."},
			{Name: "bbox", NotEmpty: true,
				About: "`minLng,minLat,maxLng,maxLat` in degrees. A box whose first longitude is greater than its second crosses the antimeridian."},
			{Name: "near", About: "`lat,lng` in degrees, with `radius_m`: only vehicles within the circle, nearest first, each with `distance_m`."},
			{Name: "radius_m", Type: "number", Min: 0.001, Max: maxNearRadius,
				About: "Radius of `near` in metres (great circle)."},
			{Name: "inside", NotEmpty: true,
				About: "A geofence: only vehicles whose place lies in its shape as it is now, whatever its scope and schedule. A place on the edge is inside as the geofence has it."},
			rest.FormatParam(latestForms),
		}, rest.LargePageParams(latestPage, maxLatestPage)...),
		Reply: rest.List[LatestPosition]{}, ReplyTypes: export.MediaTypes(latestForms),
	}, a.listLatest)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/vehicles/{id}/positions", ID: "listVehiclePositions", Tag: "Tracking",
		Scope:   auth.TelematicsRead,
		Summary: "Raw track of a vehicle",
		About: "Every stored position of the span, oldest first, the doubtful ones with their `flags`. With `interval`, `simplify_m` or `max_points` fewer. " +
			"An answer with `simplify_m` or `max_points` has one page; it begins with at most " +
			strconv.Itoa(maxSimplified) + " positions.",
		Params: append([]rest.Param{
			{Name: "from", Format: "date-time", About: "Fix time from which, inclusive."},
			{Name: "until", Format: "date-time", About: "Fix time up to which, exclusive."},
			{Name: "sort", Enum: []string{"fix_at", "-fix_at"}, About: "`-fix_at` gives the newest first."},
			{Name: "flags", NotEmpty: true, About: flagsAbout},
			{Name: "interval", Type: "integer", Min: 1, Max: 86400,
				About: "Seconds: only the first position of each interval (counted from the epoch)."},
			{Name: "simplify_m", Type: "number", Min: 0.01, Max: 1e6,
				About: "Leaves out what is nearer than so many metres to the line through the rest (Douglas-Peucker)."},
			{Name: "max_points", Type: "integer", Min: 2, Max: maxTrackPage,
				About: "At most so many positions, leaving out those that matter least for the shape (Visvalingam)."},
			{Name: "precision", Type: "integer", Min: 5, Max: 6, About: "Decimals of `format=polyline`; 5 unless given."},
			rest.FormatParam(export.Tracks),
		}, rest.LargePageParams(trackPage, maxTrackPage)...),
		Reply: rest.List[Position]{}, ReplyTypes: export.MediaTypes(export.Tracks), Timeout: rest.ExportTime,
	}, a.listTrack)
}

// PositionColumns are the columns of a position, in the units that the caller asked for.
func PositionColumns(metric bool) []export.Column {
	columns := []export.Column{
		{Name: "fix_at", Kind: export.Instant}, {Name: "device_at", Kind: export.Instant},
		{Name: "received_at", Kind: export.Instant}, {Name: "lat", Kind: export.Number}, {Name: "lng", Kind: export.Number},
		{Name: "altitude_m", Kind: export.Number}, {Name: "speed_mph", Kind: export.Number},
		{Name: "course_deg", Kind: export.Number}, {Name: "accuracy_m", Kind: export.Number},
		{Name: "satellites", Kind: export.Whole}, {Name: "ignition", Kind: export.Truth},
		{Name: "odometer_mi", Kind: export.Number}, {Name: "address", Kind: export.Text}, {Name: "h3", Kind: export.Text},
		{Name: "flags", Kind: export.Words},
		{Name: "device_id", Kind: export.Text},
	}
	if metric {
		for i := range columns {
			columns[i].Name, _ = units.MetricName(columns[i].Name)
		}
	}
	return columns
}

// PositionRow appends the values of a position to row.
func (a *API) PositionRow(row []export.Value, p *fleet.Position, metric bool) []export.Value {
	speed, length := fleet.MetresPerMph, fleet.MetresPerMile
	if metric {
		speed, length = fleet.MetresPerKmh, 1000
	}
	satellites, cell := export.Value{}, ""
	if p.Satellites >= 0 {
		satellites = export.WholeOf(int64(p.Satellites))
	}
	if p.Cell != 0 {
		cell = strconv.FormatUint(uint64(p.Cell), 16)
	}
	return append(row,
		export.InstantOf(p.FixTime), export.InstantOf(p.DeviceTime), export.InstantOf(p.ReceivedTime),
		export.ExactOf(p.Lat), export.ExactOf(p.Lng), export.ExactOf(p.Altitude),
		export.NumberOf(p.Speed/speed, 1), export.ExactOf(p.Course), export.ExactOf(p.Accuracy),
		satellites, export.TruthOf(p.Ignition), export.NumberOf(p.Odometer/length, 3),
		export.TextOf(a.Address(p.Lat, p.Lng)), export.TextOf(cell), export.WordsOf(p.Flags.Names()),
		export.TextOf(p.Device.String()))
}

func (a *API) listTrack(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	f, err := trackFilter(r, account, fleet.VehicleID(id))
	if err != nil {
		return err
	}
	format, err := rest.FormatOf(r, export.Tracks)
	if err != nil {
		return err
	}
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	tolerance, keep := rest.NumberParam(r, "simplify_m", 0), rest.IntParam(r, "max_points", 0)
	if tolerance > 0 || keep > 0 {
		return a.simplified(w, r, f, format, tolerance, keep)
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
		db, err := a.LongTurn(w, r)
		if err != nil {
			return err
		}
		return a.DownloadTrack(w, r, f, format, query.Track(r.Context(), db, f))
	}
	list := strings.Join([]string{"track", f.Vehicle.String(), strconv.FormatBool(f.Descending), f.Every.String(),
		strconv.Itoa(int(f.With)), strconv.Itoa(int(f.Without))}, "/")
	p, err := rest.LargePage(r, list, trackPage)
	if err != nil {
		return err
	}
	whole := f
	if err := continueTrack(&f, p); err != nil {
		return err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	total, positions, err := query.TrackPage(r.Context(), a.DB, whole, f, a.Now(), a.countFixes)
	if err != nil {
		return err
	}
	metric := rest.MetricUnits(r)
	return rest.WriteRows(w, r, list, p, total, PositionColumns(metric), a.trackRows(positions, metric))
}

// countFixes counts the positions that a filter lets through. If those are all of the vehicle, memory knows of most.
func (a *API) countFixes(ctx context.Context, f query.TrackFilter) (int, error) {
	if f.IsAll() {
		before := a.pastNow(ctx, a.pastFixes, f.Account, f.Vehicle)
		since := a.pastNow(ctx, a.newFixes, f.Account, f.Vehicle)
		if before != nil && since != nil && since.Before.Equal(before.Before) { // it is not just becoming another month
			return before.Count + since.Count, nil
		}
	}
	return query.CountTrack(ctx, a.DB, f)
}

// trackFilter reads what the parameters say of the wanted positions.
func trackFilter(r *http.Request, account fleet.AccountID, vehicle fleet.VehicleID) (query.TrackFilter, error) {
	f := query.TrackFilter{
		Account: account, Vehicle: vehicle, From: rest.TimeParam(r, "from", 0), To: rest.TimeParam(r, "until", 0),
		Every:      time.Duration(rest.IntParam(r, "interval", 0)) * time.Second,
		Descending: rest.TextParam(r, "sort", "") == "-fix_at",
	}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return f, err
	}
	var err error
	f.With, f.Without, err = flagsParam(r)
	return f, err
}

// flagsAbout says what flagsParam takes.
const flagsAbout = "`all` (as without it); `trusted` without those whose place is doubtful: `jump`, `invalid`, `approximate`, " +
	"`low_accuracy` and `parked_drift`, as trips leave them out; or names of flags, separated by commas: only positions with one " +
	"of them, and with a minus before it (`-jump`) only positions without it. What came late is trusted."

// flagsParam reads of which flags a position must have one, and which it must not have.
func flagsParam(r *http.Request) (with, without fleet.Flags, err error) {
	for _, word := range rest.ListParam(r, "flags") {
		name, not := strings.CutPrefix(word, "-")
		bit := slices.Index(fleet.FlagNames[:], name)
		switch {
		case word == "all":
		case word == "trusted":
			without |= wayFlags
		case bit < 0:
			return 0, 0, rest.InvalidParam("flags",
				fmt.Sprintf("has %q, which is not all, trusted or one of %s", word, strings.Join(fleet.FlagNames[:], ", ")))
		case not:
			without |= 1 << bit
		default:
			with |= 1 << bit
		}
	}
	return with, without, nil
}

// continueTrack narrows the filter to what comes behind the page's cursor: a fix time, or, where each interval gives
// one position, the interval of that fix time.
func continueTrack(f *query.TrackFilter, p rest.Page) error {
	if p.After == nil {
		return nil
	}
	last, err := strconv.ParseInt(p.After[0], 10, 64)
	if err != nil {
		return rest.InvalidParam("cursor", "is not a next_cursor of this list")
	}
	every := max(f.Every.Milliseconds(), 1)
	start := fleet.Millis(last - last%every) // of the interval
	if f.Descending {
		if f.To = start; f.To <= f.From {
			f.From, f.To = 1, 1 // nothing is left, and 0 would mean no end
		}
	} else {
		f.From = max(f.From, start+fleet.Millis(every))
	}
	return nil
}

// trackRows turns positions into rows.
func (a *API) trackRows(positions []fleet.Position, metric bool) iter.Seq2[rest.RowKey, error] {
	return func(yield func(rest.RowKey, error) bool) {
		var row []export.Value
		for i := range positions {
			p := &positions[i]
			key := func() []string { return []string{strconv.FormatInt(int64(p.FixTime), 10)} }
			row = a.PositionRow(row[:0], p, metric)
			if !yield(rest.RowKey{Row: row, Key: key}, nil) {
				return
			}
		}
	}
}

// DownloadTrack answers with positions in a format of tracks.
func (a *API) DownloadTrack(w http.ResponseWriter, r *http.Request, f query.TrackFilter, format export.Format,
	positions iter.Seq2[fleet.Position, error]) error {
	metric := rest.MetricUnits(r)
	name := f.Vehicle.String()
	return a.Download(w, r, format, name+"-positions", func(w http.ResponseWriter) error {
		track, err := export.NewTrack(format, w, name, PositionColumns(metric), rest.IntParam(r, "precision", polylineDigits))
		if err != nil {
			return err
		}
		// Only the formats with properties need the row.
		wantsRow := format != export.GPX && format != export.KML && format != export.Polyline
		var row []export.Value
		for p, err := range positions {
			if err != nil {
				return err
			}
			if wantsRow {
				row = a.PositionRow(row[:0], &p, metric)
			}
			if err := track.Write(&p, row); err != nil {
				return err
			}
		}
		return track.Close()
	})
}

// simplified answers with a track that has been made simpler as a whole.
func (a *API) simplified(w http.ResponseWriter, r *http.Request, f query.TrackFilter, format export.Format,
	tolerance float64, keep int) error {
	if err := rest.RefusePaging(r, "simplify_m or max_points"); err != nil {
		return err
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	f.Limit = maxSimplified + 1
	var all []fleet.Position
	for p, err := range query.Track(r.Context(), db, f) {
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if len(all) > maxSimplified {
		return rest.InvalidParam("simplify_m",
			fmt.Sprintf("and max_points take at most %d positions: choose a shorter span, or thin it out by interval",
				maxSimplified))
	}
	if format == export.JSON && (keep == 0 || keep > maxTrackPage) {
		keep = maxTrackPage
	}
	all = export.Simplify(all, tolerance, keep)
	if format != export.JSON {
		return a.DownloadTrack(w, r, f, format, func(yield func(fleet.Position, error) bool) {
			for _, p := range all {
				if !yield(p, nil) {
					return
				}
			}
		})
	}
	metric := rest.MetricUnits(r)
	p := rest.Page{Number: 1, PerPage: max(len(all), 1)}
	return rest.WriteRows(w, r, "", p, len(all), PositionColumns(metric), a.trackRows(all, metric))
}

func (a *API) listLatest(w http.ResponseWriter, r *http.Request) error {
	f, err := latestFilter(r)
	if err != nil {
		return err
	}
	format, err := rest.FormatOf(r, latestForms)
	if err != nil {
		return err
	}
	metric := rest.MetricUnits(r)
	columns := append([]export.Column{{Name: "vehicle_id", Kind: export.Text}}, PositionColumns(metric)...)
	if f.Near != nil {
		columns = append(columns, export.Column{Name: "distance_m", Kind: export.Number})
	}
	shape, err := a.insideOf(r, &f)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
		all, err := a.latestInside(r, f, shape)
		if err != nil {
			return err
		}
		if format == export.GeoJSON {
			return a.downloadLatestMap(w, r, f, columns, all)
		}
		return a.Download(w, r, format, "positions", func(w http.ResponseWriter) error {
			return rest.WriteTable(w, format, columns, a.latestRows(all, f.Near != nil, metric))
		})
	}
	list := "latest/" + r.URL.Query().Get("near") + "/" + r.URL.Query().Get("inside")
	p, err := rest.LargePage(r, list, latestPage)
	if err != nil {
		return err
	}
	if p.After != nil {
		distance, bad1 := strconv.ParseUint(p.After[0], 10, 64)
		vehicle, bad2 := strconv.ParseUint(p.After[len(p.After)-1], 10, 64)
		if bad1 != nil || bad2 != nil {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list")
		}
		f.AfterDistance, f.AfterVehicle = distance, fleet.VehicleID(vehicle)
	}
	if shape != nil {
		// Which of them are inside is known only when all of them are read.
		whole := f
		whole.AfterDistance, whole.AfterVehicle = 0, 0
		all, err := a.latestInside(r, whole, shape)
		if err != nil {
			return err
		}
		total := len(all)
		for p.After != nil && len(all) > 0 &&
			(all[0].Distance < f.AfterDistance || all[0].Distance == f.AfterDistance && all[0].Vehicle <= f.AfterVehicle) {
			all = all[1:]
		}
		return rest.WriteRows(w, r, list, p, total, columns,
			a.latestRows(all[min(p.Offset(), len(all)):], f.Near != nil, metric))
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	all, total, err := a.LatestPositions(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteRows(w, r, list, p, total, columns, a.latestRows(all, f.Near != nil, metric))
}

func (a *API) latestRows(all []*query.Latest, near, metric bool) iter.Seq2[rest.RowKey, error] {
	return func(yield func(rest.RowKey, error) bool) {
		var row []export.Value
		var l *query.Latest
		key := func() []string {
			return []string{strconv.FormatUint(l.Distance, 10), strconv.FormatUint(uint64(l.Vehicle), 10)}
		}
		for _, l = range all {
			row = a.PositionRow(append(row[:0], export.TextOf(l.Vehicle.String())), &l.Position, metric)
			if near {
				row = append(row, export.NumberOf(float64(l.Distance)/1000, 1))
			}
			if !yield(rest.RowKey{Row: row, Key: key}, nil) {
				return
			}
		}
	}
}

// downloadLatestMap answers with last known positions as a map has them, each with the state that its vehicle is in,
// for those who may know it.
func (a *API) downloadLatestMap(w http.ResponseWriter, r *http.Request, f query.LatestFilter, columns []export.Column,
	all []*query.Latest) error {
	told := auth.From(r.Context()).Has(auth.VehiclesRead)
	var status map[fleet.VehicleID]string
	if told {
		var err error
		if status, err = query.VehicleStatuses(r.Context(), a.DB, f.Account); err != nil {
			return err
		}
		columns = append(columns, export.Column{Name: "status", Kind: export.Text})
	}
	return a.Download(w, r, export.GeoJSON, "positions", func(w http.ResponseWriter) error {
		points, err := export.NewTrack(export.GeoJSON, w, "", columns, polylineDigits)
		if err != nil {
			return err
		}
		i := 0
		for row, err := range a.latestRows(all, f.Near != nil, rest.MetricUnits(r)) {
			if err != nil {
				return err
			}
			if told {
				row.Row = append(row.Row, export.TextOf(status[all[i].Vehicle]))
			}
			if err := points.Write(&all[i].Position, row.Row); err != nil {
				return err
			}
			i++
		}
		return points.Close()
	})
}

// latestFilter reads what the parameters say of the wanted vehicles.
func latestFilter(r *http.Request) (query.LatestFilter, error) {
	f := query.LatestFilter{Account: auth.From(r.Context()).Account}
	for _, text := range rest.ListParam(r, "vehicle_id") {
		id, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil {
			return f, rest.InvalidParam("vehicle_id", err.Error())
		}
		f.Vehicles = append(f.Vehicles, fleet.VehicleID(id))
	}
	if len(f.Vehicles) > 1000 {
		return f, rest.InvalidParam("vehicle_id", "has more than 1000 vehicles")
	}
	var err error
	if f.Box, err = rest.BoxParam(r); err != nil {
		return f, err
	}
	params := r.URL.Query()
	if params.Has("near") != params.Has("radius_m") {
		return f, rest.InvalidParam("near", "and radius_m must be given together")
	}
	if text := params.Get("near"); params.Has("near") {
		place, ok := rest.ParseNumbers(text, 2)
		if !ok || math.Abs(place[0]) > 90 || math.Abs(place[1]) > 180 {
			return f, rest.InvalidParam("near", "must be lat,lng in degrees")
		}
		f.Near = &query.Near{Lat: place[0], Lng: place[1], Radius: rest.NumberParam(r, "radius_m", 0)}
	}
	return f, nil
}

// toldPosition shows the place that an event tells of.
func (a *API) toldPosition(e *fleet.Event, metric bool) (any, error) {
	var live fleet.Live
	if err := json.Unmarshal(e.Body, &live); err != nil {
		return nil, err
	}
	p := live.Position(e.Account, e.Vehicle)
	var buf bytes.Buffer
	err := a.writeLatest(&buf, &p, metric)
	return json.RawMessage(buf.Bytes()), err
}

// writeLatest writes a position as an object of the newest positions.
func (a *API) writeLatest(w io.Writer, p *fleet.Position, metric bool) error {
	columns := append([]export.Column{{Name: "vehicle_id", Kind: export.Text}}, PositionColumns(metric)...)
	table, err := export.NewTable(export.NDJSON, w, columns)
	if err != nil {
		return err
	}
	if err := table.Write(a.PositionRow([]export.Value{export.TextOf(p.Vehicle.String())}, p, metric)); err != nil {
		return err
	}
	return table.Close()
}
