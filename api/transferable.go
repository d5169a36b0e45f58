package api

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// transfer is a resource that can be imported and exported.
type transfer interface {
	scopes() (read, write auth.Scope)
	shape() (view, create reflect.Type)
	changeable() bool // rows of an import may change records
	listParams() []param
	wanted(r *http.Request) (query.ListRequest, error)
	bring(r *http.Request, t *record.Transfer, rows []*importRow)
	tableOf(r *http.Request) ([]tableColumn, error)
	fetch(r *http.Request, req query.ListRequest, people bool) (bodies []string, total int, next []string, err error)
}

// importRow is one row that is being imported.
type importRow struct {
	row    uint32
	id     uint64 // of the record that it makes, the same however often it is done
	object map[string]any
	keys   []string // by which records are known, of mode upsert
	err    error    // why it is refused
}

// exportRows is how many records an export reads and writes at a time.
const exportRows = 500

func (s *resource[T]) scopes() (read, write auth.Scope) { return s.scope.read, s.scope.write }

func (s *resource[T]) shape() (view, create reflect.Type) {
	return reflect.TypeOf(s.view), reflect.TypeOf(s.create)
}

func (s *resource[T]) changeable() bool { return !s.fixed }

// wanted is which records the parameters of a list ask for.
func (s *resource[T]) wanted(r *http.Request) (query.ListRequest, error) {
	sortBy, _, err := s.sortKeys(r)
	if err != nil {
		return query.ListRequest{}, err
	}
	return s.chosen(r, sortBy)
}

// fetch reads a page of records as they are shown, to people if there is a table for them.
func (s *resource[T]) fetch(r *http.Request, req query.ListRequest, people bool) ([]string, int, []string, error) {
	found, err := query.List(r.Context(), s.api.DB, s.listing, req)
	if err != nil {
		return nil, 0, nil, err
	}
	records, err := storedRecords[T](req.Account, found.Records)
	if err != nil {
		return nil, 0, nil, err
	}
	if people && s.table != nil {
		rows, err := s.tableRows(r, records)
		return rows, found.Total, found.Next, err
	}
	views, err := s.show(r.Context(), records, nil)
	if err != nil {
		return nil, 0, nil, err
	}
	bodies := make([]string, len(views))
	for i, v := range views {
		text, err := encodeJSON(v.view, false)
		if err != nil {
			return nil, 0, nil, err
		}
		bodies[i] = strings.TrimSpace(string(text))
	}
	return bodies, found.Total, found.Next, nil
}
