package rest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/query"
)

// List answers with one page of the records that the parameters choose, or with all of them as a table for people.
func (s *Resource[T]) List(w http.ResponseWriter, r *http.Request) error {
	if s.Table != nil {
		form, err := FormatOf(r, tableForms)
		if err != nil {
			return err
		}
		if form == export.CSV {
			return s.downloadTable(w, r)
		}
	}
	sortBy, mark, err := s.SortKeys(r)
	if err != nil {
		return err
	}
	p, err := PageOf(r, mark)
	if err != nil {
		return err
	}
	expand, err := s.expansions(r)
	if err != nil {
		return err
	}
	req, err := s.Chosen(r, sortBy)
	if err != nil {
		return err
	}
	req.After, req.Limit, req.Offset = p.After, p.PerPage, p.Offset()
	found, err := s.Server.ListOf(r.Context(), s.Listing, req)
	if err != nil {
		return CursorError(err)
	}
	if s.Ready != nil && expand == nil {
		return s.listReady(w, r, mark, p, found)
	}
	records, err := storedRecords[T](req.Account, found.Records)
	if err != nil {
		return err
	}
	views, err := s.Show(r.Context(), records, expand)
	if err != nil {
		return err
	}
	data := make([]any, len(views))
	for i, v := range views {
		if data[i], err = s.pick(r, v.View); err != nil {
			return err
		}
	}
	return WriteList(w, r, mark, p, data, found.Total, found.Next)
}

// CursorError turns the error of query.List into what callers see: a cursor that is ours in form, with keys that are
// not of this order, was made up by somebody.
func CursorError(err error) error {
	if errors.Is(err, query.ErrCursor) {
		return InvalidParam("cursor", "is not a next_cursor of this list")
	}
	return err
}

// Chosen is which records the parameters ask for, all of them.
func (s *Resource[T]) Chosen(r *http.Request, sortBy []query.SortKey) (query.ListRequest, error) {
	req := query.ListRequest{
		Account: auth.From(r.Context()).Account, Now: s.Server.Now(), Sort: sortBy,
		Archived: strings.Replace(TextParam(r, "archived", ""), "false", "", 1), Ref: TextParam(r, "external_ref", ""),
		Search: TextParam(r, "q", ""),
		Since:  TimeParam(r, "updated_since", 0).Time(), Filters: s.filters(r),
	}
	for _, related := range s.Listing.Related {
		if auth.From(r.Context()).Has(s.Server.Kinds[related.Prefix].Read) {
			req.Related = append(req.Related, related.To.Table)
		}
	}
	if s.Choose != nil {
		if err := s.Choose(r, &req); err != nil {
			return req, err
		}
	}
	return req, nil
}

// SortKeys reads sort=. The second result marks the list for its cursors: another list, or another order, has another
// mark.
func (s *Resource[T]) SortKeys(r *http.Request) ([]query.SortKey, string, error) {
	text := ListParam(r, "sort")
	var keys []query.SortKey
	for _, word := range text {
		name, desc := strings.CutPrefix(word, "-")
		f, ok := s.Listing.Field(name)
		byID := name == "id"
		if !byID && (!ok || !f.Sort) {
			return nil, "", InvalidParam("sort",
				"names "+name+", by which this list cannot be sorted"+DidYouMean(name, s.sortable()))
		}
		if byID && !desc {
			break // the id decides alone; what follows it cannot matter
		}
		if slices.ContainsFunc(keys, func(k query.SortKey) bool { return k.Field == name }) {
			return nil, "", InvalidParam("sort", "names "+name+" twice")
		}
		keys = append(keys, query.SortKey{Field: name, Desc: desc})
		if byID {
			break
		}
	}
	return keys, s.Path + "?" + strings.Join(text, ","), nil
}

// filters reads the filters of the listing's fields.
func (s *Resource[T]) filters(r *http.Request) []query.Filter {
	values := queryOf(r)
	compared := strings.Contains(r.URL.RawQuery, "[") || strings.Contains(r.URL.RawQuery, "%")
	var filters []query.Filter
	for i := range s.Listing.Fields {
		f := &s.Listing.Fields[i]
		if parts := ListParam(r, f.Name); parts != nil {
			filters = append(filters, query.Filter{Field: f.Name, Op: "eq", Values: instants(f.Type, parts)})
		}
		if !compared {
			continue
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
		if t, err := ParseInstant(v); err == nil {
			values[i] = t.Format(time.RFC3339Nano)
		}
	}
	return values
}
