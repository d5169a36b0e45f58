package rest

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Transferable is a resource that can be imported and exported.
type Transferable interface {
	Scopes() (read, write auth.Scope)
	Shape() (view, create reflect.Type)
	Changeable() bool // rows of an import may change records
	ListParams() []Param
	ListRequest(r *http.Request) (query.ListRequest, error)
	ImportRows(r *http.Request, t *record.Transfer, rows []*ImportRow)
	// ImportTogether makes the records of rows at once. The error of a row is record.ErrNotYet if it is for ImportRows. It
	// is called for several lots of rows at the same time, with requests of one Exchange, which it only reads.
	ImportTogether(r *http.Request, rows []*ImportRow)
	// TogetherBy is by which member rows are best put together for ImportTogether, and of how many; "" if there is none.
	TogetherBy() (member string, most int)
	TableOf(r *http.Request) ([]TableColumn, error)
	Fetch(r *http.Request, req query.ListRequest, people bool) (bodies []string, total int, next []string, err error)
}

// ImportRow is one row that is being imported.
type ImportRow struct {
	Row    uint32
	ID     uint64 // of the record that it makes, the same however often it is done
	Object map[string]any
	Keys   []string // by which records are known, of mode upsert
	Err    error    // why it is refused
}

// ExportRows is how many records an export reads and writes at a time.
const ExportRows = 500

// Scopes are what an export and an import of the records need.
func (s *Resource[T]) Scopes() (read, write auth.Scope) { return s.Scope.Read, s.Scope.Write }

// Shape gives the types of a shown record and of what makes one.
func (s *Resource[T]) Shape() (view, create reflect.Type) {
	return reflect.TypeOf(s.View), reflect.TypeOf(s.Create)
}

// Changeable says whether rows of an import may change records.
func (s *Resource[T]) Changeable() bool { return !s.fixed }

// ListRequest is which records the parameters of a list ask for.
func (s *Resource[T]) ListRequest(r *http.Request) (query.ListRequest, error) {
	sortBy, _, err := s.SortKeys(r)
	if err != nil {
		return query.ListRequest{}, err
	}
	return s.Chosen(r, sortBy)
}

// Fetch reads a page of records as they are shown, to people if there is a table for them.
func (s *Resource[T]) Fetch(r *http.Request, req query.ListRequest, people bool) ([]string, int, []string, error) {
	found, err := query.List(r.Context(), s.Server.DB, s.Listing, req)
	if err != nil {
		return nil, 0, nil, err
	}
	records, err := storedRecords[T](req.Account, found.Records)
	if err != nil {
		return nil, 0, nil, err
	}
	if people && s.Table != nil {
		rows, err := s.tableRows(r, records)
		return rows, found.Total, found.Next, err
	}
	views, err := s.Show(r.Context(), records, nil)
	if err != nil {
		return nil, 0, nil, err
	}
	bodies := make([]string, len(views))
	for i, v := range views {
		text, err := EncodeJSON(v.View, false)
		if err != nil {
			return nil, 0, nil, err
		}
		bodies[i] = strings.TrimSpace(string(text))
	}
	return bodies, found.Total, found.Next, nil
}
