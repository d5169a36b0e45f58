package track

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// DerivedStamps are what everything derived has besides what it is.
type DerivedStamps struct {
	Provisional bool           `json:"provisional" doc:"It goes on: its end and what is summed up so far will change."`
	Late        bool           `json:"late" doc:"Recorded long after it happened, from data that came late."`
	Revision    uint32         `json:"revision"`
	UpdatedAt   record.Instant `json:"updated_at"`
	Deleted     bool           `json:"deleted,omitempty" doc:"Data that came later showed that it does not hold; only with include=deleted."`
}

func derivedStamps[E fleet.Entity](d *query.Derived[E]) DerivedStamps {
	return DerivedStamps{Provisional: d.Entity.Header().Open, Late: d.Late, Revision: d.Revision,
		UpdatedAt: rest.Instant(d.UpdatedAt), Deleted: d.Deleted}
}

// DerivedID writes the identity of a derived thing.
func DerivedID(e fleet.Entity) string { return fleet.FormatID(e.Kind().Prefix(), e.Header().ID) }

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

	params []rest.Param // filters beside those of every kind
	// filter, if not nil, reads them.
	filter func(r *http.Request, f *query.DerivedFilter) error
	// narrow, if not nil, narrows what the filter lets through by what takes long to find out.
	narrow func(w http.ResponseWriter, r *http.Request, f *query.DerivedFilter) error
	// show makes the views of things, in order. Of an event the request is nil.
	show func(r *http.Request, rows []query.Derived[E]) ([]V, error)
	// tell, if not nil, shows a thing in the place of show as far as an event knows it.
	tell func(d *query.Derived[E], metric bool) V
	// keeps says that a thing which no longer holds is still answered by its id.
	keeps bool

	past *roster.Facts[query.Past] // how many of them vehicles had before query.PastBefore
}

// derivedSorts are the orders of a list; the first is that of none.
var derivedSorts = []string{"-from", "from", "updated_at", "-updated_at"}

func (s *derivedResource[E, V]) registerList() {
	var none V
	s.past = s.api.pastOf(roster.OfPast, s.from.CountPast)
	s.api.Events.Derived(s.from.Kind, eventview.View{Of: none, Show: s.told})
	s.api.Events.At(s.from.Kind, s.path+"/")
	s.api.Handle(rest.Route{
		Method: http.MethodGet, Path: s.path, ID: "list" + s.name + "s", Tag: s.tag, Scope: auth.TelematicsRead,
		Summary: "List " + s.nouns,
		About: s.about + " What overlaps `from` and `until` is answered whole, however the span is chosen; what is `provisional` has no end yet. " +
			"To follow changes, ask for `updated_since` with `sort=updated_at&include=deleted`.",
		Params: slices.Concat([]rest.Param{
			{Name: "vehicle_id", NotEmpty: true, About: "Only of these vehicles, separated by commas; at most 1000."},
			rest.FromParam,
			rest.UntilParam,
			{Name: "provisional", Type: "boolean", About: "`true` for what goes on, `false` for what has ended."},
			{Name: "late", Type: "boolean", About: "`true` for what was recorded late."},
			{Name: "updated_since", Format: "date-time", About: "Only what was written at or after this instant."},
			{Name: "include", Enum: []string{"deleted"}, About: "`deleted` answers also what no longer holds, with `deleted`."},
			{Name: "sort", Enum: derivedSorts, About: "`-from` unless given."},
		}, s.params, []rest.Param{rest.FormatParam(export.Tables)}, rest.PageParams),
		Reply: s.api.ListSchema(none), ReplyTypes: export.MediaTypes(export.Tables), Timeout: rest.ExportTime,
	}, s.list)
}

func (s *derivedResource[E, V]) registerGet() {
	var none V
	s.api.Handle(rest.Route{
		Method: http.MethodGet, Path: s.path + "/{id}", ID: "get" + s.name, Tag: s.tag, Scope: auth.TelematicsRead,
		Summary: "Get " + rest.Article(s.noun), Reply: none,
	}, func(w http.ResponseWriter, r *http.Request) error {
		view, err := s.view(r)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, view)
	})
}

// find reads the thing that the path names.
func (s *derivedResource[E, V]) find(r *http.Request) (query.Derived[E], error) {
	id, err := rest.PathID(r, s.noun, s.from.Kind.Prefix())
	if err != nil {
		return query.Derived[E]{}, err
	}
	d, ok, err := s.from.Find(r.Context(), s.api.DB, auth.From(r.Context()).Account, id)
	switch {
	case err != nil:
		return d, err
	case !ok:
		return d, rest.NotFound(s.noun, fleet.FormatID(s.from.Kind.Prefix(), id))
	case d.Deleted && !s.keeps:
		h := d.Entity.Header()
		return d, fleet.NewError(fleet.CodeNotFound,
			"The "+s.noun+" "+DerivedID(d.Entity)+" does not hold any more: data that came later replaced it. "+
				"What holds now is in "+s.path+"?vehicle_id="+d.Vehicle.String()+"&from="+rest.IsoTime(h.Start)+"&until="+
				rest.IsoTime(max(h.End, h.Start+1))+".")
	}
	return d, nil
}

// told shows the thing in an event's body.
func (s *derivedResource[E, V]) told(e *fleet.Event, metric bool) (any, error) {
	entity := reflect.New(reflect.TypeFor[E]().Elem()).Interface().(E)
	if err := json.Unmarshal(e.Body, entity); err != nil {
		return nil, err
	}
	entity.Header().ID = e.Object
	d := query.Derived[E]{
		Entity: entity, Vehicle: e.Vehicle, Revision: e.Revision, Late: e.Late,
		Deleted: strings.HasSuffix(e.Type, ".deleted") || e.Type == fleet.EventAlertWithdrawn,
	}
	if s.tell != nil {
		return s.tell(&d, metric), nil
	}
	views, err := s.show(nil, []query.Derived[E]{d})
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

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

func (s *derivedResource[E, V]) readFilter(r *http.Request) (query.DerivedFilter, error) {
	order := rest.TextParam(r, "sort", derivedSorts[0])
	f := query.DerivedFilter{
		Account: auth.From(r.Context()).Account, From: rest.TimeParam(r, "from", 0), To: rest.TimeParam(r, "until", 0),
		Since: rest.TimeParam(r, "updated_since", 0),
		Open:  rest.TriParam(r, "provisional"), Late: rest.TriParam(r, "late"),
		Deleted:   rest.TextParam(r, "include", "") == "deleted",
		Ascending: order[0] != '-', ByUpdate: strings.HasSuffix(order, "updated_at"),
	}
	err := rest.CheckSpan(f.From, f.To)
	if err == nil {
		f.Vehicles, err = rest.IDsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix)
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
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
			return err
		}
		return s.download(w, r, f, format)
	}
	list := s.path + "?" + rest.TextParam(r, "sort", derivedSorts[0])
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	if p.After != nil {
		at, bad1 := strconv.ParseInt(p.After[0], 10, 64)
		id, bad2 := strconv.ParseUint(p.After[len(p.After)-1], 10, 63)
		if bad1 != nil || bad2 != nil || id == 0 {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list")
		}
		f.AfterTime, f.AfterID = fleet.Millis(at), id
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage
	page, err := s.page(r.Context(), f)
	if err != nil {
		return err
	}
	var after []string
	if page.AfterID != 0 {
		after = []string{strconv.FormatInt(int64(page.AfterTime), 10), strconv.FormatUint(page.AfterID, 10)}
	}
	views, err := s.show(r, page.Rows)
	if err != nil {
		return err
	}
	return rest.WriteList(w, r, list, p, views, page.Total, after)
}

// page reads one page: the newest of one vehicle by a question of the last months alone, as memory knows how many there
// were before.
func (s *derivedResource[E, V]) page(ctx context.Context, f query.DerivedFilter) (query.DerivedPage[E], error) {
	names := func(vehicles []fleet.VehicleID) (query.ZoneNames, error) {
		return s.api.ZoneNames(ctx, f.Account, vehicles)
	}
	if s.from.Newest(&f) {
		if past := s.api.pastNow(ctx, s.past, f.Account, f.Vehicles[0]); past != nil {
			if page, ok, err := s.from.NewestPage(ctx, s.api.DB, f, *past, names); ok || err != nil {
				return page, err
			}
		}
	}
	return s.from.Page(ctx, s.api.DB, f, names)
}

// pastOf keeps how much vehicles had before query.PastBefore, or since; nil without a memory.
func (a *API) pastOf(of roster.FactsOf, count func(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []uint64, before time.Time) (map[uint64]int, error)) *roster.Facts[query.Past] {
	if a.Roster == nil { // to count it apart were one more statement
		return nil
	}
	return roster.NewFacts(a.Roster, of, a.Now, func(ctx context.Context, account fleet.AccountID, ids []uint64,
		now time.Time) (map[uint64]*roster.Fact[query.Past], error) {
		before, until := query.PastBefore(now)
		counts, err := count(ctx, a.DB, account, ids, before)
		if err != nil {
			return nil, err
		}
		all := make(map[uint64]*roster.Fact[query.Past], len(ids))
		for _, id := range ids {
			had := query.Past{Before: before, Count: counts[id]}
			all[id] = &roster.Fact[query.Past]{Value: had, Until: fleet.MillisOf(until)}
		}
		return all, nil
	})
}

// patience is how long memory is waited for where the store can answer without it.
const patience = time.Second

// pastNow returns that of a vehicle, or nil if memory does not have the vehicle or cannot tell it soon.
func (a *API) pastNow(ctx context.Context, kept *roster.Facts[query.Past], account fleet.AccountID,
	vehicle fleet.VehicleID) *query.Past {
	if kept == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, ok := a.Roster.Get(ctx, &query.Vehicles, account, uint64(vehicle)); !ok {
		return nil
	}
	counts, _, err := kept.Of(ctx, account, []uint64{uint64(vehicle)})
	if err != nil {
		return nil
	}
	return counts[0]
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

// download answers with all that the filter wants: newline-delimited objects are those of the list, the other formats
// are tables, in which a place takes three columns.
func (s *derivedResource[E, V]) download(w http.ResponseWriter, r *http.Request, f query.DerivedFilter,
	format export.Format) error {
	var none V
	db, err := s.api.LongTurn(w, r)
	if err != nil {
		return err
	}
	return s.api.DownloadViews(w, r, format, strings.ReplaceAll(s.nouns, " ", "-"), none,
		func(yield func(any, error) bool) {
			for view, err := range s.views(r, db, f) {
				if !yield(view, err) {
					return
				}
			}
		})
}
