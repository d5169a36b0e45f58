package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// ImportRows makes or changes the records of rows, or only judges them, and notes why those are refused that are.
func (s *Resource[T]) ImportRows(r *http.Request, t *record.Transfer, rows []*ImportRow) {
	known := make([]*record.Record[T], len(rows))
	if t.Mode == "upsert" {
		if err := s.recognise(r, rows, known); err != nil {
			for _, row := range rows {
				row.Err = errors.Join(row.Err, err)
			}
			return
		}
	}
	writing := make(chan struct{}, batchAtOnce)
	which, ids, bodies := s.newOfRows(r, rows, func(i int, row *ImportRow) bool {
		if known[i] != nil {
			writing <- struct{}{}
			defer func() { <-writing }()
			row.Err = s.mend(r, *known[i], row.Object, t.DryRun)
		}
		return known[i] == nil
	})
	if t.DryRun || len(which) == 0 {
		return
	}
	written := make([]error, len(which))
	s.insertMany(r, ids, bodies, written)
	for at, i := range which {
		rows[i].Err = written[at]
	}
}

// ImportTogether makes the records of rows at once, as far as that can be.
func (s *Resource[T]) ImportTogether(r *http.Request, rows []*ImportRow) {
	which, ids, bodies := s.newOfRows(r, rows, func(int, *ImportRow) bool { return true })
	for at, err := range s.Together.Write(r, ids, bodies) {
		rows[which[at]].Err = err
	}
}

// TogetherBy says how rows are put together for ImportTogether.
func (s *Resource[T]) TogetherBy() (member string, most int) {
	if s.Together == nil {
		return "", 0
	}
	return s.Together.By, s.Together.Most
}

// newOfRows returns the new records that rows make, by the rows' places: of those that have no error, of which fresh
// says that they are new. A row that makes none notes why.
func (s *Resource[T]) newOfRows(r *http.Request, rows []*ImportRow,
	fresh func(i int, row *ImportRow) bool) (which []int, ids []uint64, bodies []T) {
	all, made := make([]T, len(rows)), make([]bool, len(rows))
	var work errgroup.Group
	work.SetLimit(max(batchAtOnce, s.ReadyAtOnce))
	for i, row := range rows {
		if row.Err != nil {
			continue
		}
		work.Go(func() error {
			if !fresh(i, row) {
				return nil
			}
			s.ignoreReadOnly(row.Object, s.Create)
			for name, value := range s.Imported {
				if _, said := row.Object[name]; !said {
					row.Object[name] = value
				}
			}
			all[i], row.Err = s.NewBody(r, row.Object)
			made[i] = row.Err == nil
			return nil
		})
	}
	_ = work.Wait() // each row has its own error
	for i, row := range rows {
		if made[i] {
			which, ids, bodies = append(which, i), append(ids, row.ID), append(bodies, all[i])
		}
	}
	return which, ids, bodies
}

// mend changes a record by a row, as PATCH does, or only judges the change.
func (s *Resource[T]) mend(r *http.Request, known record.Record[T], object map[string]any, dry bool) error {
	s.ignoreReadOnly(object, s.Fields)
	next := func(present map[string]any) map[string]any {
		MergePatch(present, object)
		return present
	}
	if !dry {
		_, err := s.edit(r, known, next)
		return err
	}
	mutate, err := s.editing(r, known, next)
	if err != nil {
		return err
	}
	return mutate(&known)
}

// ignoreReadOnly takes out of a row what a record shows and callers do not write: a file that was exported has it. A
// member that may be written when creating, and has a value that only the system gives, is such a one.
func (s *Resource[T]) ignoreReadOnly(object map[string]any, fields any) {
	registry := s.Server.Docs.OpenAPI().Components.Schemas
	shown := registry.Schema(reflect.TypeOf(s.View), false, "").Properties
	create := registry.Schema(reflect.TypeOf(s.Create), false, "").Properties
	writable := registry.Schema(reflect.TypeOf(fields), false, "").Properties
	always := registry.Schema(reflect.TypeOf(s.Fields), false, "").Properties
	for name, value := range object {
		system := shown[name] != nil && always[name] == nil && create[name] != nil && create[name].Enum != nil &&
			!slices.Contains(create[name].Enum, value)
		if writable[name] == nil && (shown[name] != nil || create[name] != nil) || system {
			delete(object, name)
		}
	}
}

// recognise finds the records that rows are about.
func (s *Resource[T]) recognise(r *http.Request, rows []*ImportRow, known []*record.Record[T]) error {
	var ids []uint64
	var refs, vins, reservations []string
	for _, row := range rows {
		for _, key := range row.Keys {
			switch kind, rest, _ := strings.Cut(key, " "); kind {
			case "id":
				if id, err := fleet.ParseID(s.Log.Kind().Prefix, rest); err == nil {
					ids = append(ids, id)
				}
			case "ref":
				_, id, _ := strings.Cut(rest, " ")
				refs = append(refs, id)
			case "vin":
				vin, _ := row.Object["vin"].(string)
				vins = append(vins, vin, rest)
			default:
				id, _ := row.Object["external_reservation_id"].(string)
				reservations = append(reservations, id, rest)
			}
		}
	}
	ctx, account := r.Context(), auth.From(r.Context()).Account
	var found []query.Stored
	if len(ids) > 0 {
		byID, err := query.RecordsByID(ctx, s.Server.DB, s.Listing, account, ids)
		if err != nil {
			return err
		}
		for _, one := range byID {
			found = append(found, one)
		}
	}
	if len(refs) > 0 {
		byRef, err := query.RecordsByRefs(ctx, s.Server.DB, s.Listing, account, refs)
		if err != nil {
			return err
		}
		found = append(found, byRef...)
	}
	for name, values := range map[string][]string{"vin": vins, "external_reservation_id": reservations} {
		if _, ok := s.Listing.Field(name); !ok || len(values) == 0 {
			continue
		}
		page, err := query.List(ctx, s.Server.DB, s.Listing, query.ListRequest{Account: account, Limit: 2 * len(values),
			Filters: []query.Filter{{Field: name, Op: "eq", Values: values}}})
		if err != nil {
			return err
		}
		found = append(found, page.Records...)
	}
	byKey := map[string]*record.Record[T]{}
	for _, one := range found {
		rec, err := FromStored[T](account, one)
		if err != nil {
			return err
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(one.Body), &object); err != nil {
			return err
		}
		object["id"] = fleet.FormatID(s.Log.Kind().Prefix, rec.ID)
		for _, key := range UpsertKeys(object) {
			if byKey[key] == nil {
				byKey[key] = &rec
			}
		}
	}
	for i, row := range rows {
		for _, key := range row.Keys {
			if known[i] = byKey[key]; known[i] != nil {
				break
			}
			if strings.HasPrefix(key, "id ") && row.Err == nil {
				row.Err = fleet.Invalid(fleet.NoSuch("/id", s.Noun, s.Log.Kind().Prefix, strings.TrimPrefix(key, "id ")))
				break
			}
		}
	}
	return nil
}

// UpsertKeys are the names by which a row says which record it is, the strongest first.
func UpsertKeys(object map[string]any) []string {
	var keys []string
	if id, ok := object["id"].(string); ok && id != "" {
		keys = append(keys, "id "+id)
	}
	refs, _ := object["external_refs"].([]any)
	for _, ref := range refs {
		if ref, ok := ref.(map[string]any); ok {
			keys = append(keys, fmt.Sprintf("ref %v %v", ref["system"], ref["id"]))
		}
	}
	for _, name := range []string{"external_reservation_id", "vin"} {
		if text, ok := object[name].(string); ok && text != "" {
			keys = append(keys, name+" "+strings.ToUpper(strings.TrimSpace(text)))
		}
	}
	return keys
}
