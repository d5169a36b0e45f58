package rest

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// A table for people is CSV with a row a record and the columns that one wants of it: names instead of ids, amounts
// with a decimal point, times as clocks show them. A resource that has one is listed by it with format=csv and exported
// by it; what programs read is JSON.

// Table is how the records of a resource are shown to people.
type Table[T any] struct {
	Columns []TableColumn
	Rows    func(ctx context.Context, records []record.Record[T]) ([][]string, error) // cells, by the columns
}

// PeopleTable says of a resource that it has such a table.
type PeopleTable[T any] struct {
	Columns []TableColumn // all that there are
	Open    func(r *http.Request) (*Table[T], error)
}

// TableColumn is a column of a table for people.
type TableColumn struct {
	Name  string
	Scope auth.Scope // that it needs beside that of the list; "" for none
	Extra bool       // only for those who name it
}

// tableForms are the forms of a list that has a table for people.
var tableForms = []export.Format{export.JSON, export.CSV}

// tableParam is the format of such a list, with its columns.
func tableParam(columns []TableColumn) Param {
	var usual, others []string
	for _, c := range columns {
		name := "`" + c.Name + "`"
		if c.Scope != "" {
			name += " (with `" + string(c.Scope) + "`)"
		}
		if c.Extra {
			others = append(others, name)
		} else {
			usual = append(usual, name)
		}
	}
	p := FormatParam(tableForms)
	p.About += " `csv` is a table for people: names, amounts with a decimal point, times by the clock of the place. Its columns are " +
		strings.Join(usual, ", ") + "; `fields` names others, `id` among them only if it is named: of those, " +
		strings.Join(others, ", ") + ", and `custom_fields.x` or `metadata.x`."
	return p
}

// ColumnsWanted are the columns that fields= names, or else the usual ones that the caller may see.
func ColumnsWanted(r *http.Request, known []TableColumn) ([]TableColumn, error) {
	var wanted []TableColumn
	p := auth.From(r.Context())
	names := ListParam(r, "fields")
	if names == nil {
		for _, c := range known {
			if !c.Extra && (c.Scope == "" || p.Has(c.Scope)) {
				wanted = append(wanted, c)
			}
		}
		return wanted, nil
	}
	for _, name := range names {
		c := TableColumn{Name: name}
		if stem, _, free := strings.Cut(name, "."); !free || stem != "custom_fields" && stem != "metadata" {
			i := slices.IndexFunc(known, func(c TableColumn) bool { return c.Name == name })
			if i < 0 {
				names := make([]string, len(known))
				for i := range known {
					names[i] = known[i].Name
				}
				return nil, InvalidParam("fields", "names "+name+", and there is no such column"+DidYouMean(name, names))
			}
			c = known[i]
		}
		if c.Scope != "" && !p.Has(c.Scope) {
			return nil, fleet.NewError(fleet.CodeForbidden,
				p.Lacks()+" the scope "+string(c.Scope)+", which the column "+name+" needs.")
		}
		wanted = append(wanted, c)
	}
	return wanted, nil
}

// TableHeader is the first row of a table.
func TableHeader(columns []TableColumn) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// downloadTable answers with all records that a request asks for, as a table for people.
func (s *Resource[T]) downloadTable(w http.ResponseWriter, r *http.Request) error {
	if err := RefusePaging(r, "format=csv"); err != nil {
		return err
	}
	t, err := s.Table.Open(r)
	if err != nil {
		return err
	}
	req, err := s.ListRequest(r)
	if err != nil {
		return err
	}
	db, err := s.Server.LongTurn(w, r)
	if err != nil {
		return err
	}
	req.Limit = ExportRows
	return s.Server.Download(w, r, export.CSV, s.Nouns, func(w http.ResponseWriter) error {
		sheet := csv.NewWriter(w)
		if err := sheet.Write(TableHeader(t.Columns)); err != nil {
			return err
		}
		for first := true; first || req.After != nil; first = false {
			found, err := query.List(r.Context(), db, s.Listing, req)
			if err != nil {
				return err
			}
			records, err := storedRecords[T](req.Account, found.Records)
			if err != nil {
				return err
			}
			rows, err := t.Rows(r.Context(), records)
			if err != nil {
				return err
			}
			if err := sheet.WriteAll(rows); err != nil {
				return err
			}
			req.After = found.Next
		}
		return nil
	})
}

// TableOf returns the columns of a resource's table for people as a request asks for them; nil if it has none.
func (s *Resource[T]) TableOf(r *http.Request) ([]TableColumn, error) {
	if s.Table == nil {
		return nil, nil
	}
	t, err := s.Table.Open(r)
	if err != nil {
		return nil, err
	}
	return t.Columns, nil
}

// tableRows are the bodies of an export as a table for people: a JSON array of cells each.
func (s *Resource[T]) tableRows(r *http.Request, records []record.Record[T]) ([]string, error) {
	t, err := s.Table.Open(r)
	if err != nil {
		return nil, err
	}
	rows, err := t.Rows(r.Context(), records)
	if err != nil {
		return nil, err
	}
	bodies := make([]string, len(rows))
	for i, row := range rows {
		text, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("encode a row: %w", err)
		}
		bodies[i] = string(text)
	}
	return bodies, nil
}
