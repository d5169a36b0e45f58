package api

import (
	"encoding/json"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Place is where something happened.
type Place struct {
	Lat     float64 `json:"lat" doc:"Degrees WGS 84."`
	Lng     float64 `json:"lng" doc:"Degrees WGS 84."`
	Address *string `json:"address" nullable:"true" doc:"Words for the place."`
}

// nullablePlace says in a schema that a member which is a place may be null, which a reference cannot say by itself.
func nullablePlace(s *huma.Schema, name string) *huma.Schema {
	place := *s.Properties[name]
	s.Properties[name] = &huma.Schema{Description: place.Description, AnyOf: []*huma.Schema{{Ref: place.Ref}, {Type: "null"}}}
	return s
}

// DerivedStamps are what everything derived has besides what it is.
type DerivedStamps struct {
	Provisional bool           `json:"provisional" doc:"It goes on: its end and what is summed up so far will change."`
	Late        bool           `json:"late" doc:"Recorded long after it happened, from data that came late."`
	Revision    uint32         `json:"revision"`
	UpdatedAt   record.Instant `json:"updated_at"`
	Deleted     bool           `json:"deleted,omitempty" doc:"Data that came later showed that it does not hold; only with include=deleted."`
}

func milesOf(metres float64) miles { return miles(metres / fleet.MetresPerMile) }

func gallonsOf(litres float64) gallons { return gallons(litres / fleet.LitresPerGal) }

func mphOf(mps float64) milesPerHour { return milesPerHour(mps / fleet.MetresPerMph) }

func seconds(ms fleet.Millis) float64 { return float64(ms) / 1000 }

// rounded cuts a number to decimals.
func rounded(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}

// optional converts a number that may be absent.
func optional[T any](v *float64, convert func(float64) T) *T {
	if v == nil {
		return nil
	}
	c := convert(*v)
	return &c
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *API) place(p fleet.Place) Place {
	return Place{Lat: p.Lat, Lng: p.Lng, Address: textOrNull(a.address(p.Lat, p.Lng))}
}

func (a *API) placeOrNull(p *fleet.Place) *Place {
	if p == nil {
		return nil
	}
	shown := a.place(*p)
	return &shown
}

func instant(at fleet.Millis) record.Instant { return record.InstantOf(at.Time()) }

func derivedStamps[E fleet.Entity](d *query.Derived[E]) DerivedStamps {
	return DerivedStamps{Provisional: d.Entity.Header().Open, Late: d.Late, Revision: d.Revision, UpdatedAt: instant(d.UpdatedAt), Deleted: d.Deleted}
}

// derivedID writes the identity of a derived thing.
func derivedID(e fleet.Entity) string { return fleet.FormatID(e.Kind().Prefix(), e.Header().ID) }

// derivedResource is one kind of derived things as the interface shows it.
type derivedResource[E fleet.Entity, V any] struct {
	api   *API
	path  string // "/v1/trips"
	name  string // "Trip", in operation ids
	noun  string // "trip"
	nouns string // "trips"
	tag   string
	about string
	from  *query.Derivable[E]

	params []param // filters beside those of every kind
	// filter, if not nil, reads them.
	filter func(r *http.Request, f *query.DerivedFilter) error
	// narrow, if not nil, narrows what the filter lets through by what takes long to find out.
	narrow func(w http.ResponseWriter, r *http.Request, f *query.DerivedFilter) error
	// show makes the views of things, in order.
	show func(r *http.Request, rows []query.Derived[E]) ([]V, error)
	// keeps says that a thing which no longer holds is still answered by its id.
	keeps bool
}

// derivedSorts are the orders of a list; the first is that of none.
var derivedSorts = []string{"-from", "from", "updated_at", "-updated_at"}

func (s *derivedResource[E, V]) registerList() {
	var none V
	s.api.handle(route{
		Method: http.MethodGet, Path: s.path, ID: "list" + s.name + "s", Tag: s.tag, Scope: auth.TelematicsRead,
		Summary: "List " + s.nouns,
		About: s.about + " What overlaps `from` and `until` is answered whole, however the span is chosen; what is `provisional` has no end yet. " +
			"To follow changes, ask for `updated_since` with `sort=updated_at&include=deleted`.",
		Params: slices.Concat([]param{
			{Name: "vehicle_id", Some: true, About: "Only of these vehicles, separated by commas; at most 1000."},
			fromParam,
			untilParam,
			{Name: "provisional", Type: "boolean", About: "`true` for what goes on, `false` for what has ended."},
			{Name: "late", Type: "boolean", About: "`true` for what was recorded late."},
			{Name: "updated_since", Format: "date-time", About: "Only what was written at or after this instant."},
			{Name: "include", Enum: []string{"deleted"}, About: "`deleted` answers also what no longer holds, with `deleted`."},
			{Name: "sort", Enum: derivedSorts, About: "`-from` unless given."},
		}, s.params, []param{formatParam(export.Tables)}, pageParams),
		Reply: s.api.listSchema(none), ReplyTypes: export.MediaTypes(export.Tables), Timeout: exportTime,
	}, s.list)
}

func (s *derivedResource[E, V]) registerGet() {
	var none V
	s.api.handle(route{
		Method: http.MethodGet, Path: s.path + "/{id}", ID: "get" + s.name, Tag: s.tag, Scope: auth.TelematicsRead,
		Summary: "Get " + article(s.noun), Reply: none,
	}, func(w http.ResponseWriter, r *http.Request) error {
		view, err := s.view(r)
		if err != nil {
			return err
		}
		return writeJSON(w, r, http.StatusOK, view)
	})
}

// find reads the thing that the path names.
func (s *derivedResource[E, V]) find(r *http.Request) (query.Derived[E], error) {
	id, err := pathID(r, s.noun, s.from.Kind.Prefix())
	if err != nil {
		return query.Derived[E]{}, err
	}
	d, ok, err := s.from.Find(r.Context(), s.api.DB, auth.From(r.Context()).Account, id)
	switch {
	case err != nil:
		return d, err
	case !ok:
		return d, notFound(s.noun, fleet.FormatID(s.from.Kind.Prefix(), id))
	case d.Deleted && !s.keeps:
		h := d.Entity.Header()
		return d, fleet.NewError(fleet.CodeNotFound, "The "+s.noun+" "+derivedID(d.Entity)+" does not hold any more: data that came later replaced it. "+
			"What holds now is in "+s.path+"?vehicle_id="+d.Vehicle.String()+"&from="+isoTime(h.Start)+"&until="+isoTime(max(h.End, h.Start+1))+".")
	}
	return d, nil
}

func isoTime(at fleet.Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z") }

// view reads and shows the thing that the path names.
func (s *derivedResource[E, V]) view(r *http.Request) (V, error) {
	d, err := s.find(r)
	if err != nil {
		var none V
		return none, err
	}
	views, err := s.show(r, []query.Derived[E]{d})
	if err != nil {
		var none V
		return none, err
	}
	return views[0], nil
}

// triParam reads a boolean parameter that may be absent.
func triParam(r *http.Request, name string) fleet.Tri {
	text := r.URL.Query().Get(name)
	if text == "" {
		return fleet.Unknown
	}
	return fleet.TriOf(text == "true")
}

// idsParam reads a list of identities.
func idsParam[T ~uint64](r *http.Request, name, prefix string) ([]T, error) {
	var all []T
	for _, text := range listParam(r, name) {
		id, err := fleet.ParseID(prefix, text)
		if err != nil {
			return nil, invalidParam(name, err.Error())
		}
		all = append(all, T(id))
	}
	if len(all) > 1000 {
		return nil, invalidParam(name, "has more than 1000 ids")
	}
	return all, nil
}

func (s *derivedResource[E, V]) readFilter(r *http.Request) (query.DerivedFilter, error) {
	order := textParam(r, "sort", derivedSorts[0])
	f := query.DerivedFilter{
		Account: auth.From(r.Context()).Account, From: timeParam(r, "from", 0), To: timeParam(r, "until", 0), Since: timeParam(r, "updated_since", 0),
		Open: triParam(r, "provisional"), Late: triParam(r, "late"), Deleted: textParam(r, "include", "") == "deleted",
		Ascending: order[0] != '-', ByUpdate: strings.HasSuffix(order, "updated_at"),
	}
	err := checkSpan(f.From, f.To)
	if err == nil {
		f.Vehicles, err = idsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix)
	}
	if err == nil && s.filter != nil {
		err = s.filter(r, &f)
	}
	return f, err
}

func (s *derivedResource[E, V]) list(w http.ResponseWriter, r *http.Request) error {
	f, err := s.readFilter(r)
	if err == nil && s.narrow != nil {
		err = s.narrow(w, r, &f)
	}
	if err != nil {
		return err
	}
	format, err := formatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := wholeOnly(r, "format="+string(format)); err != nil {
			return err
		}
		return s.download(w, r, f, format)
	}
	list := s.path + "?" + textParam(r, "sort", derivedSorts[0])
	p, err := pageOf(r, list)
	if err != nil {
		return err
	}
	if p.After != nil {
		at, bad1 := strconv.ParseInt(p.After[0], 10, 64)
		id, bad2 := strconv.ParseUint(p.After[len(p.After)-1], 10, 63)
		if bad1 != nil || bad2 != nil || id == 0 {
			return invalidParam("cursor", "is not a next_cursor of this list")
		}
		f.AfterTime, f.AfterID = fleet.Millis(at), id
	}
	total, err := s.from.Count(r.Context(), s.api.DB, f)
	if err != nil {
		return err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	var rows []query.Derived[E]
	for d, err := range s.from.List(r.Context(), s.api.DB, f) {
		if err != nil {
			return err
		}
		rows = append(rows, d)
	}
	var after []string
	if len(rows) > p.PerPage {
		rows = rows[:p.PerPage]
		last := &rows[len(rows)-1]
		after = []string{strconv.FormatInt(int64(last.Key(&f)), 10), strconv.FormatUint(last.ID(), 10)}
	}
	views, err := s.show(r, rows)
	if err != nil {
		return err
	}
	return writeList(w, r, list, p, views, total, after)
}

// shownAtOnce is how many things an export shows together, so that what is looked up for each is looked up for many.
const shownAtOnce = 500

// views shows all that the filter wants, some at a time.
func (s *derivedResource[E, V]) views(r *http.Request, db driver.Conn, f query.DerivedFilter) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var rows []query.Derived[E]
		show := func() bool {
			views, err := s.show(r, rows)
			if err != nil {
				var none V
				yield(none, err)
				return false
			}
			rows = rows[:0]
			for i := range views {
				if !yield(views[i], nil) {
					return false
				}
			}
			return true
		}
		for d, err := range s.from.List(r.Context(), db, f) {
			if err != nil {
				var none V
				yield(none, err)
				return
			}
			if rows = append(rows, d); len(rows) == shownAtOnce && !show() {
				return
			}
		}
		show()
	}
}

// download answers with all that the filter wants: newline-delimited objects are those of the list, the other formats are
// tables, in which a place takes three columns.
func (s *derivedResource[E, V]) download(w http.ResponseWriter, r *http.Request, f query.DerivedFilter, format export.Format) error {
	var none V
	db, err := s.api.long(w, r)
	if err != nil {
		return err
	}
	return s.api.downloadViews(w, r, format, strings.ReplaceAll(s.nouns, " ", "-"), none, func(yield func(any, error) bool) {
		for view, err := range s.views(r, db, f) {
			if !yield(view, err) {
				return
			}
		}
	})
}

// downloadViews answers with views of one type: newline-delimited objects, or a table.
func (a *API) downloadViews(w http.ResponseWriter, r *http.Request, format export.Format, name string, none any, views iter.Seq2[any, error]) error {
	metric := metricUnits(r)
	return a.download(w, r, format, name, func(w http.ResponseWriter) error {
		if format == export.NDJSON {
			for view, err := range views {
				if err != nil {
					return err
				}
				line, err := encodeJSON(view, metric)
				if err != nil {
					return err
				}
				if _, err := w.Write(line); err != nil {
					return err
				}
			}
			return nil
		}
		return writeTable(w, format, flatColumns(none, metric), func(yield func(rowKey, error) bool) {
			var row []export.Value
			for view, err := range views {
				if err != nil {
					yield(rowKey{}, err)
					return
				}
				row = flatRow(row[:0], view, metric)
				if !yield(rowKey{row: row}, nil) {
					return
				}
			}
		})
	})
}

// lineString is a GeoJSON geometry: a LineString, or null for fewer than two places.
func lineString(track []fleet.Position) json.RawMessage {
	if len(track) < 2 {
		return json.RawMessage("null")
	}
	line := []byte(`{"type":"LineString","coordinates":[`)
	for i := range track {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, '[')
		line = strconv.AppendFloat(line, track[i].Lng, 'f', -1, 64)
		line = append(line, ',')
		line = strconv.AppendFloat(line, track[i].Lat, 'f', -1, 64)
		line = append(line, ']')
	}
	return append(line, "]}"...)
}
