package track

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/area"
)

// AreaSearch is a question: which vehicles were inside a shape, and when.
type AreaSearch struct {
	Geometry     record.Geometry `json:"geometry" doc:"Polygon or MultiPolygon as in GeoJSON, Circle or Corridor as of a geofence."`
	From         time.Time       `json:"from" doc:"Fix time from which, inclusive."`
	To           time.Time       `json:"until" doc:"Fix time up to which, exclusive; at most 31 days later."`
	VehicleIDs   []string        `json:"vehicle_ids,omitempty" nullable:"false" maxItems:"1000" doc:"Only these vehicles, and those with one of the tags." example:"[\"veh_1234\"]"`
	Tags         []string        `json:"tags,omitempty" nullable:"false" maxItems:"100" doc:"Only vehicles with one of these tags, and those of vehicle_ids."`
	MinDurationS float64         `json:"min_duration_s,omitempty" minimum:"0" maximum:"2678400" doc:"Leaves out shorter spans. A single fix inside is a span of 0 seconds."`
}

// AreaSpan is a time during which a vehicle was inside. Answers are written from export rows with the same members in
// the same order; the type describes them.
type AreaSpan struct {
	VehicleID string         `json:"vehicle_id" example:"veh_1234"`
	EnteredAt record.Instant `json:"entered_at" doc:"First fix inside."`
	LeftAt    record.Instant `json:"left_at" doc:"Last fix inside."`
	DurationS float64        `json:"duration_s" doc:"From the first to the last."`
	Fixes     int64          `json:"fixes" doc:"Inside."`
	EntryLat  float64        `json:"entry_lat" doc:"Of the first fix inside, degrees WGS 84."`
	EntryLng  float64        `json:"entry_lng"`
	ExitLat   float64        `json:"exit_lat" doc:"Of the last fix inside, degrees WGS 84."`
	ExitLng   float64        `json:"exit_lng"`
}

// Bounds of a search.
const (
	maxAreaSpan  = 31 * 24 * time.Hour
	maxAreaSize  = 2e9        // m²: about 20,000 cells
	maxAreaCells = 50_000     // along the border, which may be long where the shape is thin
	maxAreaWay   = 20_000e3   // m, of a corridor, which may go through the same cells again and again
	maxAreaFixes = 10_000_000 // in the cells of the area
	maxAreaSpans = 200_000
	areaPage     = 100
	maxAreaPage  = 1000
	areaTime     = time.Minute
)

// AreaColumns are the columns of a search of an area as a table.
var AreaColumns = []export.Column{
	{Name: "vehicle_id", Kind: export.Text}, {Name: "entered_at", Kind: export.Instant},
	{Name: "left_at", Kind: export.Instant}, {Name: "duration_s", Kind: export.Number},
	{Name: "fixes", Kind: export.Whole}, {Name: "entry_lat", Kind: export.Number},
	{Name: "entry_lng", Kind: export.Number},
	{Name: "exit_lat", Kind: export.Number},
	{Name: "exit_lng", Kind: export.Number},
}

func (a *API) searchRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/search/area", ID: "searchArea", Tag: "Tracking", Scope: auth.TelematicsRead,
		Class:   auth.Read,
		Summary: "Who was inside a shape, and when",
		About: "The times during which vehicles were inside a shape that is given with the question, by vehicle and time. A span ends where a vehicle has " +
			"no fix inside for more than 10 minutes, or was seen outside and stayed out for more than a minute. What happened between two fixes is not " +
			"guessed: a vehicle that passed through between them is not in the answer. Fixes whose place is doubtful (jumps, invalid, approximate or of " +
			"low accuracy) do not count; those that came late do.\n\nThe shape may have 2,000 km², a corridor 20,000 km, the time from `from` to `until` 31 days.",
		Params: append([]rest.Param{rest.FormatParam(export.Tables)}, rest.LargePageParams(areaPage, maxAreaPage)...),
		Body:   AreaSearch{}, Reply: rest.List[AreaSpan]{}, ReplyTypes: export.MediaTypes(export.Tables), Timeout: areaTime,
	}, a.searchArea)
}

func (a *API) searchArea(w http.ResponseWriter, r *http.Request) error {
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
	}
	const list = "search/area"
	p, err := rest.LargePage(r, list, areaPage)
	if err != nil {
		return err
	}
	after, err := afterSpan(p)
	if err != nil {
		return err
	}
	var body AreaSearch
	if err := a.DecodeBody(r, &body); err != nil {
		return err
	}
	f, some, err := a.areaFilter(r, &body)
	if err != nil {
		return err
	}
	var spans []query.AreaSpan
	if some {
		db, refused := a.LongTurn(w, r)
		if refused != nil {
			return refused
		}
		spans, err = query.SearchArea(r.Context(), db, f)
	}
	switch {
	case errors.Is(err, query.ErrTooManyFixes):
		return fleet.Invalid(fleet.FieldError{Pointer: "/geometry", Code: "too_large",
			Detail: fmt.Sprintf("has more than %d fixes between from and until: choose a smaller shape, a shorter time or fewer vehicles", maxAreaFixes)})
	case errors.Is(err, query.ErrTooManySpans):
		return fleet.Invalid(fleet.FieldError{Pointer: "/geometry", Code: "too_large",
			Detail: fmt.Sprintf("has more than %d spans between from and until: choose a smaller shape, a shorter time or fewer vehicles", maxAreaSpans)})
	case err != nil:
		return err
	}
	if format != export.JSON {
		return a.Download(w, r, format, "area", func(w http.ResponseWriter) error {
			return rest.WriteTable(w, format, AreaColumns, areaRows(spans))
		})
	}
	total := len(spans)
	if p.After != nil {
		from, found := slices.BinarySearchFunc(spans, after, compareSpans)
		if found {
			from++
		}
		spans = spans[from:]
	}
	spans = spans[min(p.Offset(), len(spans)):]
	return rest.WriteRows(w, r, list, p, total, AreaColumns, areaRows(spans))
}

func compareSpans(s, t query.AreaSpan) int {
	if s.Vehicle != t.Vehicle {
		if s.Vehicle < t.Vehicle {
			return -1
		}
		return 1
	}
	return int(max(-1, min(1, s.Entered-t.Entered)))
}

// afterSpan reads where the page before ended; the zero span without a cursor.
func afterSpan(p rest.Page) (query.AreaSpan, error) {
	var s query.AreaSpan
	if p.After == nil {
		return s, nil
	}
	vehicle, bad1 := strconv.ParseUint(p.After[0], 10, 64)
	entered, bad2 := strconv.ParseInt(p.After[len(p.After)-1], 10, 64)
	if bad1 != nil || bad2 != nil {
		return s, rest.InvalidParam("cursor", "is not a next_cursor of this list")
	}
	s.Vehicle, s.Entered = fleet.VehicleID(vehicle), fleet.Millis(entered)
	return s, nil
}

// areaFilter turns a question into a filter. It is not to be asked if no vehicle has one of the tags.
func (a *API) areaFilter(r *http.Request, body *AreaSearch) (f query.AreaFilter, some bool, err error) {
	f = query.AreaFilter{
		Account: auth.From(r.Context()).Account, From: fleet.MillisOf(body.From), To: fleet.MillisOf(body.To),
		MaxFixes: maxAreaFixes, MaxSpans: maxAreaSpans,
		MinDuration: time.Duration(body.MinDurationS * float64(time.Second)),
	}
	var faults []fleet.FieldError
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	for _, end := range []struct {
		name string
		at   time.Time
	}{{"/from", body.From}, {"/until", body.To}} {
		if end.at.Year() < 1900 || end.at.Year() > 2299 {
			fault(end.name, "invalid", "must be of the years 1900 to 2299")
		}
	}
	switch {
	case !body.To.After(body.From):
		fault("/until", "invalid", "must be later than from")
	case body.To.Sub(body.From) > maxAreaSpan:
		fault("/until", "too_large", "must be at most 31 days after from")
	}
	for i, text := range body.VehicleIDs {
		id, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil {
			fault(fmt.Sprintf("/vehicle_ids/%d", i), "invalid", err.Error())
		}
		f.Vehicles = append(f.Vehicles, fleet.VehicleID(id))
	}
	body.Geometry.Tidy()
	text, err := json.Marshal(body.Geometry)
	if err != nil {
		return f, false, fmt.Errorf("encode geometry: %w", err)
	}
	shape, err := area.Parse(text)
	if err != nil {
		faults = append(faults, geometryFaults(err)...)
	} else if size := shape.Area(); size > maxAreaSize {
		fault("/geometry", "too_large", fmt.Sprintf("has %.0f km²: at most %.0f can be searched", size/1e6, maxAreaSize/1e6))
	} else if way := body.Geometry.WidthM; way != nil && size / *way > maxAreaWay {
		fault("/geometry", "too_large",
			fmt.Sprintf("is %.0f km long: at most %.0f can be searched", size / *way / 1e3, maxAreaWay/1e3))
	}
	if faults != nil {
		return f, false, fleet.Invalid(faults...)
	}
	if len(body.Tags) > 0 {
		tagged, err := query.VehiclesTagged(r.Context(), a.DB, f.Account, body.Tags)
		if err != nil {
			return f, false, err
		}
		f.Vehicles = append(f.Vehicles, tagged...)
		if len(f.Vehicles) == 0 {
			return f, false, nil
		}
	}
	f.Contains = shape.Contains
	return f, true, coverArea(&f, shape)
}

// coverArea gives the filter the cells of a shape. One that winds through too many is refused.
func coverArea(f *query.AreaFilter, shape area.Shape) error {
	cover, err := area.Compact(shape, fleet.CellResolution, maxAreaCells)
	if err != nil {
		return err
	}
	for _, cell := range cover.Boundary {
		if h3.Cell(cell).Resolution() != fleet.CellResolution {
			return fleet.Invalid(fleet.FieldError{Pointer: "/geometry", Code: "too_large",
				Detail: "has a border that is too long to be searched: choose a smaller shape, or search it in parts"})
		}
	}
	f.Edge = cover.Boundary
	for _, cell := range cover.Interior {
		children, err := h3.Cell(cell).Children(fleet.CellResolution)
		if err != nil {
			return fmt.Errorf("cells of %x: %w", uint64(cell), err)
		}
		for _, child := range children {
			f.Inner = append(f.Inner, fleet.Cell(child))
		}
	}
	return nil
}

func areaRows(spans []query.AreaSpan) iter.Seq2[rest.RowKey, error] {
	return func(yield func(rest.RowKey, error) bool) {
		var row []export.Value
		var s *query.AreaSpan
		key := func() []string {
			return []string{strconv.FormatUint(uint64(s.Vehicle), 10), strconv.FormatInt(int64(s.Entered), 10)}
		}
		for i := range spans {
			s = &spans[i]
			row = append(row[:0], export.TextOf(s.Vehicle.String()), export.InstantOf(s.Entered), export.InstantOf(s.Left),
				export.NumberOf(float64(s.Left-s.Entered)/1000, 3), export.WholeOf(int64(s.Fixes)),
				export.ExactOf(s.First.Lat), export.ExactOf(s.First.Lng), export.ExactOf(s.Last.Lat), export.ExactOf(s.Last.Lng))
			if !yield(rest.RowKey{Row: row, Key: key}, nil) {
				return
			}
		}
	}
}
