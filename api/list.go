package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// comparisons are the suffixes of filters that compare.
var comparisons = []string{"gte", "gt", "lte", "lt"}

// listParams are the parameters by which the records of a listing are chosen and sorted.
func (s *resource[T]) listParams() []param {
	var params []param
	sortable := []string{"id"}
	shown := s.api.membersOf(s.view)
	for _, f := range s.listing.Fields {
		p := param{Name: f.Name, Many: true, Some: true, Enum: valuesOf(s.api.memberNamed(shown, f.Name)), Prefix: idPrefixes[f.Name], About: "One value, or several separated by commas."}
		if f.Values != nil {
			p.Enum = f.Values
		}
		if f.Name == "status" && s.states != nil {
			p.Enum = s.states
		}
		if p.Enum != nil {
			p.About = "One value, or several separated by commas, of " + strings.Join(p.Enum, ", ") + "."
		}
		switch f.Type {
		case query.WordsField:
			p.About += " In any case."
		case query.CodeField:
			p.About += " By letters and digits, in any case."
		case query.NumberField:
			p.Type = "integer"
		case query.TimeField:
			p.Format = "date-time"
		}
		params = append(params, p)
		if f.Range {
			for _, op := range comparisons {
				params = append(params, param{Name: f.Name + "[" + op + "]", Type: p.Type, Format: p.Format, About: "Compares " + f.Name + "."})
			}
		}
		if f.Sort {
			sortable = append(sortable, f.Name)
		}
	}
	words := "Words, all of which must occur."
	for _, r := range s.listing.Related {
		words += " Also in what the " + strings.TrimSuffix(r.Field, "_id") + " is known by, with the scope `" + string(scopeOf(r.To)) + "`."
	}
	return append(append(params, s.params.list...),
		param{Name: "sort", About: "Members to sort by, separated by commas, with - for descending; of " + strings.Join(sortable, ", ") + ". `id` is always the last."},
		param{Name: "q", About: words},
		param{Name: "external_ref", Some: true, About: "The id that another system has for the record."},
		param{Name: "updated_since", Format: "date-time", About: "Only what changed at or after this instant."},
		param{Name: "archived", Enum: []string{"true", "false", "all"}, About: "`true` lists only archived records, `all` those too."},
	)
}

// scopeOf is what it takes to read the records of a listing that others name.
func scopeOf(l *query.Listing) auth.Scope {
	return map[*query.Listing]auth.Scope{&query.Customers: auth.CustomersRead, &query.Vehicles: auth.VehiclesRead, &query.Bookings: auth.BookingsRead}[l]
}

// idPrefixes are what the ids begin with that filters of these names ask for.
var idPrefixes = map[string]string{
	"customer_id": fleet.CustomerPrefix, "driver_ids": fleet.CustomerPrefix, "owner_customer_id": fleet.CustomerPrefix,
	"vehicle_id": fleet.VehiclePrefix, "vehicle_class_id": fleet.ClassPrefix, "rate_plan_id": fleet.RatePlanPrefix, "booking_id": fleet.BookingPrefix,
	"pickup_location_id": fleet.LocationPrefix, "return_location_id": fleet.LocationPrefix, "location_ids": fleet.LocationPrefix, "due_location_id": fleet.LocationPrefix,
	"from_location_id": fleet.LocationPrefix, "to_location_id": fleet.LocationPrefix,
	"home_location_id": fleet.LocationPrefix, "current_location_id": fleet.LocationPrefix,
}

// membersOf returns the schemas of a view's members by name.
func (a *API) membersOf(view any) map[string]*huma.Schema {
	registry := a.docs.OpenAPI().Components.Schemas
	s := registry.Schema(reflect.TypeOf(view), true, "")
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	return s.Properties
}

// memberNamed is the member of a view that a filter goes by: deposit_status is the status within deposit.
func (a *API) memberNamed(shown map[string]*huma.Schema, name string) *huma.Schema {
	stem, rest, _ := strings.Cut(name, "_")
	if shown[name] != nil || shown[stem] == nil {
		return shown[name]
	}
	return inner(a.docs.OpenAPI().Components.Schemas, resolve(a.docs.OpenAPI().Components.Schemas, shown[stem]), rest)
}

// valuesOf returns the values that a member, or each of its elements, can have, if its schema tells; else nil.
func valuesOf(member *huma.Schema) []string {
	if member == nil {
		return nil
	}
	if member.Type == huma.TypeArray {
		return valuesOf(member.Items)
	}
	if member.Type == huma.TypeBoolean {
		return []string{"true", "false"}
	}
	var values []string
	for _, v := range member.Enum {
		values = append(values, fmt.Sprint(v))
	}
	return values
}

func (s *resource[T]) list(w http.ResponseWriter, r *http.Request) error {
	if s.table != nil {
		form, err := formatOf(r, tableForms)
		if err != nil {
			return err
		}
		if form == export.CSV {
			return s.downloadTable(w, r)
		}
	}
	sortBy, mark, err := s.sortKeys(r)
	if err != nil {
		return err
	}
	p, err := pageOf(r, mark)
	if err != nil {
		return err
	}
	expand, err := s.expansions(r)
	if err != nil {
		return err
	}
	req, err := s.chosen(r, sortBy)
	if err != nil {
		return err
	}
	req.After, req.Limit, req.Offset = p.After, p.PerPage, p.Offset()
	found, err := query.List(r.Context(), s.api.DB, s.listing, req)
	if err != nil {
		return cursorError(err)
	}
	records, err := storedRecords[T](req.Account, found.Records)
	if err != nil {
		return err
	}
	views, err := s.show(r.Context(), records, expand)
	if err != nil {
		return err
	}
	data := make([]any, len(views))
	for i, v := range views {
		if data[i], err = s.pick(r, v.view); err != nil {
			return err
		}
	}
	return writeList(w, r, mark, p, data, found.Total, found.Next)
}

// cursorError turns the error of query.List into what callers see: a cursor that is ours in form, with keys that are not of this order,
// was made up by somebody.
func cursorError(err error) error {
	if errors.Is(err, query.ErrCursor) {
		return invalidParam("cursor", "is not a next_cursor of this list")
	}
	return err
}

// chosen is which records the parameters ask for, all of them.
func (s *resource[T]) chosen(r *http.Request, sortBy []query.SortKey) (query.ListRequest, error) {
	req := query.ListRequest{
		Account: auth.From(r.Context()).Account, Now: s.api.Now(), Sort: sortBy,
		Archived: strings.Replace(textParam(r, "archived", ""), "false", "", 1), Ref: textParam(r, "external_ref", ""), Search: textParam(r, "q", ""),
		Since: timeParam(r, "updated_since", 0).Time(), Filters: s.filters(r),
	}
	for _, related := range s.listing.Related {
		if auth.From(r.Context()).Has(scopeOf(related.To)) {
			req.Related = append(req.Related, related.To.Table)
		}
	}
	if s.choose != nil {
		if err := s.choose(r, &req); err != nil {
			return req, err
		}
	}
	return req, nil
}

// sortKeys reads sort=. The second result marks the list for its cursors: another list, or another order, has another
// mark.
func (s *resource[T]) sortKeys(r *http.Request) ([]query.SortKey, string, error) {
	text := listParam(r, "sort")
	var keys []query.SortKey
	for _, word := range text {
		name, desc := strings.CutPrefix(word, "-")
		f, ok := s.listing.Field(name)
		byID := name == "id"
		if !byID && (!ok || !f.Sort) {
			return nil, "", invalidParam("sort", "names "+name+", by which this list cannot be sorted")
		}
		if byID && !desc {
			break // the id decides alone; what follows it cannot matter
		}
		if slices.ContainsFunc(keys, func(k query.SortKey) bool { return k.Field == name }) {
			return nil, "", invalidParam("sort", "names "+name+" twice")
		}
		keys = append(keys, query.SortKey{Field: name, Desc: desc})
		if byID {
			break
		}
	}
	return keys, s.path + "?" + strings.Join(text, ","), nil
}

// filters reads the filters of the listing's fields.
func (s *resource[T]) filters(r *http.Request) []query.Filter {
	values := r.URL.Query()
	var filters []query.Filter
	for _, f := range s.listing.Fields {
		if parts := listParam(r, f.Name); parts != nil {
			filters = append(filters, query.Filter{Field: f.Name, Op: "eq", Values: instants(f.Type, parts)})
		}
		for _, op := range comparisons {
			if v := values.Get(f.Name + "[" + op + "]"); v != "" {
				filters = append(filters, query.Filter{Field: f.Name, Op: op, Values: instants(f.Type, []string{v})})
			}
		}
	}
	return filters
}

// instants writes instants, which may have come in several forms, in one.
func instants(kind query.FieldType, values []string) []string {
	if kind != query.TimeField {
		return values
	}
	for i, v := range values {
		if t, err := parseInstant(v); err == nil {
			values[i] = t.Format(time.RFC3339Nano)
		}
	}
	return values
}

// fromStored makes a record of a row of its current table.
func fromStored[T any](account fleet.AccountID, s query.Stored) (record.Record[T], error) {
	rec := record.Record[T]{Account: account, ID: s.ID, Revision: s.Revision, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC()}
	if s.ArchivedAt != nil {
		rec.ArchivedAt = s.ArchivedAt.UTC()
	}
	if err := json.Unmarshal([]byte(s.Body), &rec.Body); err != nil {
		return rec, fmt.Errorf("decode record %d: %w", s.ID, err)
	}
	return rec, nil
}

// listSchema describes the envelope of a list of a type.
func (a *API) listSchema(view any) *huma.Schema {
	registry := a.docs.OpenAPI().Components.Schemas
	return &huma.Schema{
		Type: "object", Required: []string{"data", "pagination"},
		Properties: map[string]*huma.Schema{
			"data":       {Type: "array", Items: registry.Schema(reflect.TypeOf(view), true, "")},
			"pagination": registry.Schema(reflect.TypeFor[Pagination](), true, ""),
		},
	}
}

// Revision is one entry of a record's history.
type Revision struct {
	Revision  uint64         `json:"revision"`
	At        record.Instant `json:"at"`
	Action    string         `json:"action" doc:"create, update or archive."`
	Actor     string         `json:"actor" doc:"Who did it: the id of an API key, or cli."`
	RequestID string         `json:"request_id,omitempty"`
	Changes   []FieldChange  `json:"changes"`
}

// FieldChange is one member that a revision changed.
type FieldChange struct {
	Field string `json:"field" doc:"JSON pointer of the member." example:"/color"`
	Old   any    `json:"old" doc:"Null where the member was absent, and for secrets."`
	New   any    `json:"new" doc:"Null where the member is absent since, and for secrets."`
}

func (s *resource[T]) history(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.load(r)
	if err != nil {
		return err
	}
	mark := r.URL.Path
	p, err := pageOf(r, mark)
	if err != nil {
		return err
	}
	// Revisions are numbered without gaps, so that a page is a range of numbers.
	total := int(rec.Revision)
	below := uint64(max(0, total-p.Offset())) + 1
	if p.After != nil {
		if _, err := fmt.Sscan(p.After[0], &below); err != nil {
			return invalidParam("cursor", "is not a next_cursor of this list")
		}
	}
	var data []Revision
	var next uint64
	if below > 1 {
		var revisions []record.Revision
		if revisions, next, err = s.log.History(r.Context(), rec.Account, rec.ID, below, p.PerPage); err != nil {
			return err
		}
		for _, v := range revisions {
			data = append(data, showRevision(v))
		}
	}
	var after []string
	if next != 0 {
		after = []string{fmt.Sprint(next)}
	}
	return writeList(w, r, mark, p, data, total, after)
}

func showRevision(v record.Revision) Revision {
	shown := Revision{Revision: v.Number, At: record.InstantOf(v.At), Action: v.Action, Actor: v.Actor, RequestID: v.RequestID, Changes: []FieldChange{}}
	for _, c := range v.Changes {
		shown.Changes = append(shown.Changes, FieldChange{Field: c.Path, Old: c.Old, New: c.New})
	}
	return shown
}
