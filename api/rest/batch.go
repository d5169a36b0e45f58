package rest

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Bounds of batches.
const (
	MaxBatch    = 100 // items
	batchAtOnce = 4   // of them that are under way
)

// BatchResult is what has come of one item of a batch.
type BatchResult struct {
	Status int      `json:"status" doc:"As of a single request: 201, or that of the error." example:"201"`
	ID     string   `json:"id,omitempty" doc:"Of the record that was made."`
	Record any      `json:"record,omitempty" doc:"The record that was made."`
	Error  *Problem `json:"error,omitempty" doc:"Why it was not."`
}

// batchRoute registers the operation that creates several records.
func (s *Resource[T]) batchRoute(names string) {
	registry := s.Server.Docs.OpenAPI().Components.Schemas
	few, many := 1, MaxBatch
	items := registry.Schema(reflect.TypeOf(s.Create), true, "")
	result := *registry.Schema(reflect.TypeFor[BatchResult](), false, "")
	members := map[string]*huma.Schema{}
	for member, schema := range result.Properties {
		members[member] = schema
	}
	members["record"] = registry.Schema(reflect.TypeOf(s.View), true, "")
	result.Properties = members
	s.Server.Handle(Route{
		Method: "POST", Path: s.Path + "/batch", ID: "create" + names, Summary: "Create several " + s.Nouns,
		Scope: s.Scope.Write, Tag: s.Tag,
		About: fmt.Sprintf("Up to %d at a time, each as a single request would be. The answer has a result for each, in their order: some may be made while others are refused.", MaxBatch),
		Body: &huma.Schema{Type: "object", Required: []string{"data"}, AdditionalProperties: false,
			Properties: map[string]*huma.Schema{
				"data": {Type: "array", Items: items, MinItems: &few, MaxItems: &many},
			}},
		BodyLimit: 5 * s.Server.Config.BodyLimit,
		Reply: &huma.Schema{Type: "object", Required: []string{"data"}, Properties: map[string]*huma.Schema{
			"data": {Type: "array", Items: &result},
		}},
	}, s.batch)
}

func (s *Resource[T]) batch(w http.ResponseWriter, r *http.Request) error {
	object, err := ParseObject(RequestBody(r))
	if err != nil {
		return err
	}
	items, ok := object["data"].([]any)
	if !ok || len(object) != 1 {
		return fleet.Invalid(fleet.FieldError{Pointer: "/data", Code: "required",
			Detail: "must be the list of what is to be created, and the only member"})
	}
	if len(items) == 0 || len(items) > MaxBatch {
		return fleet.Invalid(fleet.FieldError{Pointer: "/data", Code: "invalid",
			Detail: fmt.Sprintf("must have 1 to %d items", MaxBatch)})
	}
	if err := s.Server.SpendItems(w, auth.From(r.Context()).Account, len(items)); err != nil {
		return err
	}
	ids, bodies, errs := make([]uint64, len(items)), make([]T, len(items)), make([]error, len(items))
	var work errgroup.Group
	work.SetLimit(batchAtOnce)
	for i, item := range items {
		if ids[i] = s.Server.Store.NextIDOfMany(); ExchangeOf(r.Context()).Ticket != nil {
			ids[i] = DerivedRecordID(s.Server.NewID(r), i)
		}
		work.Go(func() error {
			object, ok := item.(map[string]any)
			if !ok {
				errs[i] = fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid", Detail: "must be an object"})
				return nil
			}
			bodies[i], errs[i] = s.NewBody(r, object)
			return nil
		})
	}
	_ = work.Wait() // each item has its own error
	records := s.insertMany(r, ids, bodies, errs)
	results := make([]BatchResult, len(items))
	var made []record.Record[T]
	for i := range items {
		if errs[i] == nil {
			made = append(made, records[i])
		}
	}
	views, err := s.Show(r.Context(), made, nil)
	if err != nil {
		return err
	}
	for i, at := 0, 0; i < len(items); i++ {
		if errs[i] != nil {
			results[i] = s.failure(r, i, errs[i])
			continue
		}
		results[i] = BatchResult{Status: http.StatusCreated, ID: fleet.FormatID(s.Log.Kind().Prefix, ids[i]),
			Record: s.Server.WithAllMembers(views[at].View)}
		at++
	}
	return WriteJSON(w, r, http.StatusOK, map[string]any{"data": results})
}

// failure is the result of an item that was not made.
func (s *Resource[T]) failure(r *http.Request, item int, err error) BatchResult {
	p, ours := ProblemOfWrite(err)
	s.Server.tell(r.Context(), &p)
	p.Instance, p.RequestID = r.URL.Path+"#/data/"+strconv.Itoa(item), RequestID(r.Context())
	if ours {
		s.Server.Log.ErrorContext(r.Context(), "item of a batch failed", "error", err, "request_id", p.RequestID, "path",
			r.URL.Path, "item", item)
	}
	return BatchResult{Status: p.Status, Error: &p}
}

// insertMany writes those of the new records that have no error, and notes the errors of the others.
func (s *Resource[T]) insertMany(r *http.Request, ids []uint64, bodies []T, errs []error) []record.Record[T] {
	records := make([]record.Record[T], len(ids))
	ticket := ExchangeOf(r.Context()).Ticket
	if s.Write != nil || ticket != nil && ticket.Again {
		// Each by itself: an earlier attempt may have made some.
		var work errgroup.Group
		work.SetLimit(batchAtOnce)
		for i := range ids {
			if errs[i] == nil {
				work.Go(func() error {
					for {
						if records[i], errs[i] = s.Insert(r, ids[i], bodies[i]); !errors.Is(errs[i], record.ErrTaken) {
							return nil
						}
						ids[i] = s.Server.Store.Another(Author(r), ids[i])
					}
				})
			}
		}
		_ = work.Wait() // each item has its own error
		return records
	}
	var chosen []int
	var some []uint64
	var which []T
	for i := range ids {
		if errs[i] == nil {
			chosen, some, which = append(chosen, i), append(some, ids[i]), append(which, bodies[i])
		}
	}
	account := auth.From(r.Context()).Account
	for i, err := range s.Log.CreateMany(r.Context(), Author(r), account, some, which) {
		errs[chosen[i]], ids[chosen[i]] = err, some[i]
	}
	stored, err := query.RecordsByID(r.Context(), s.Server.DB, s.Listing, account, some)
	for _, i := range chosen {
		if errs[i] != nil {
			continue
		}
		found, ok := stored[ids[i]]
		switch {
		case err != nil:
			errs[i] = err
		case !ok:
			errs[i] = errors.New("a record that was just made is not in its table")
		default:
			records[i], errs[i] = FromStored[T](account, found)
		}
	}
	return records
}
