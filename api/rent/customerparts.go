package rent

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// customerPart is a kind of record that belongs to customers: notes, documents. It is found through every customer that
// was merged with its own, and a new one belongs to the customer that counts.
type customerPart[T any] struct {
	api      *API
	path     string // "/v1/customers/{id}/notes"
	noun     string // "note"
	name     string // "CustomerNote", in operation ids
	log      *record.Log[T]
	listing  *query.Listing
	view     any
	fields   any
	owner    func(*T) *string // the customer's id in a body
	writable func(*T) any
	complete func(r *http.Request, body *T)
	show     func(record.Record[T]) any
}

// one is the path of a single record.
func (s *customerPart[T]) one() string { return s.path + "/{" + s.noun + "}" }

func (s *customerPart[T]) register() {
	s.api.Handle(rest.Route{Method: "GET", Path: s.path, ID: "list" + s.name + "s", Tag: "Customers",
		Scope:   auth.CustomersRead,
		Summary: "List the " + s.noun + "s of a customer", About: "Newest first; those of customers merged into it too.",
		Params: rest.PageParams, Reply: s.api.ListSchema(s.view)}, s.list)
	s.api.Handle(rest.Route{Method: "POST", Path: s.path, ID: "create" + s.name, Tag: "Customers",
		Scope:   auth.CustomersWrite,
		Summary: "Add a " + s.noun + " to a customer", Body: s.fields, Status: http.StatusCreated, Reply: s.view}, s.post)
	s.api.Handle(rest.Route{Method: "GET", Path: s.one(), ID: "get" + s.name, Tag: "Customers", Scope: auth.CustomersRead,
		Summary: "Get a " + s.noun + " of a customer", Reply: s.view}, s.get)
	s.api.Handle(rest.Route{Method: "PATCH", Path: s.one(), ID: "update" + s.name, Tag: "Customers",
		Scope:   auth.CustomersWrite,
		Summary: "Change a " + s.noun + " of a customer", About: "A merge patch (RFC 7396).",
		Params: []rest.Param{rest.IfMatchParam},
		Body:   s.api.PatchSchema(s.fields), BodyTypes: []string{"application/merge-patch+json", "application/json"},
		Reply: s.view}, s.patch)
	s.api.Handle(rest.Route{Method: "DELETE", Path: s.one(), ID: "delete" + s.name, Tag: "Customers",
		Scope:   auth.CustomersWrite,
		Summary: "Delete a " + s.noun + " of a customer", Params: []rest.Param{rest.IfMatchParam},
		Status: http.StatusNoContent}, s.delete)
}

// customerFamily reads the customer that the path names, as it counts, with the names of all that were merged into it.
func (a *API) customerFamily(r *http.Request) (rec record.Record[record.Customer], names []string, err error) {
	id, err := rest.PathID(r, "customer", fleet.CustomerPrefix)
	if err != nil {
		return rec, nil, err
	}
	account := auth.From(r.Context()).Account
	if rec, err = a.desk.Persons.Customer(r.Context(), account, id); err != nil {
		return rec, nil, err
	}
	family, err := a.families.Of(r.Context(), account, rec.ID)
	for _, id := range family {
		names = append(names, fleet.FormatID(fleet.CustomerPrefix, id))
	}
	return rec, names, err
}

func (s *customerPart[T]) list(w http.ResponseWriter, r *http.Request) error {
	p, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	rec, names, err := s.api.customerFamily(r)
	if err != nil {
		return err
	}
	found, err := query.List(r.Context(), s.api.DB, s.listing, query.ListRequest{Account: rec.Account,
		Filters: []query.Filter{{Field: "customer_id", Op: "eq", Values: names}},
		Sort:    []query.SortKey{{Field: "created_at", Desc: true}},
		After:   p.After, Limit: p.PerPage, Offset: p.Offset()})
	if err != nil {
		return rest.CursorError(err)
	}
	data := make([]any, len(found.Records))
	for i, stored := range found.Records {
		part, err := rest.FromStored[T](rec.Account, stored)
		if err != nil {
			return err
		}
		data[i] = s.show(part)
	}
	return rest.WriteList(w, r, r.URL.Path, p, data, found.Total, found.Next)
}

func (s *customerPart[T]) post(w http.ResponseWriter, r *http.Request) error {
	rec, _, err := s.api.customerFamily(r)
	if err != nil {
		return err
	}
	var body T
	if err := s.api.DecodeBody(r, s.writable(&body)); err != nil {
		return err
	}
	if err := notGone(&rec.Body); err != nil {
		return err
	}
	*s.owner(&body) = fleet.FormatID(fleet.CustomerPrefix, rec.ID)
	s.complete(r, &body)
	part, _, err := s.log.Create(r.Context(), rest.Author(r), rec.Account, s.api.NewID(r), body)
	if err != nil {
		return err
	}
	// An erasure that began meanwhile may have looked for parts before this one was there.
	now, err := s.api.desk.Customers.Get(r.Context(), rec.Account, rec.ID)
	if err != nil {
		return err
	}
	if err := notGone(&now.Body); err != nil {
		return errors.Join(err, s.log.Erase(r.Context(), rest.Author(r), rec.Account, s.listing.Table, part.ID, s.wipe))
	}
	w.Header().Set("Location", strings.TrimSuffix(r.URL.Path, "/")+"/"+fleet.FormatID(s.log.Kind().Prefix, part.ID))
	w.Header().Set("ETag", rest.ETagOf(part.Revision, nil))
	return rest.WriteJSON(w, r, http.StatusCreated, s.show(part))
}

// wipe leaves of a body only whose it was.
func (s *customerPart[T]) wipe(body *T) {
	owner := *s.owner(body)
	*body = *new(T)
	*s.owner(body) = owner
}

// load reads the record that the path names, if it is the customer's.
func (s *customerPart[T]) load(r *http.Request) (record.Record[T], error) {
	rec, names, err := s.api.customerFamily(r)
	if err != nil {
		return record.Record[T]{}, err
	}
	id, err := rest.NamedID(r, s.noun, s.noun, s.log.Kind().Prefix)
	if err != nil {
		return record.Record[T]{}, err
	}
	part, err := s.log.Get(r.Context(), rec.Account, id)
	if err == nil && (part.Archived() || !slices.Contains(names, *s.owner(&part.Body))) {
		err = rest.NotFound(s.noun, fleet.FormatID(s.log.Kind().Prefix, id))
	}
	return part, err
}

func (s *customerPart[T]) get(w http.ResponseWriter, r *http.Request) error {
	part, err := s.load(r)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", rest.ETagOf(part.Revision, nil))
	return rest.WriteJSON(w, r, http.StatusOK, s.show(part))
}

func (s *customerPart[T]) patch(w http.ResponseWriter, r *http.Request) error {
	part, err := s.load(r)
	if err != nil {
		return err
	}
	patch, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return err
	}
	part, err = s.log.Update(r.Context(), rest.Author(r), part.Account, part.ID, 0, func(rec *record.Record[T]) error {
		if err := rest.Precondition(r, rec.Revision); err != nil {
			return err
		}
		target := s.writable(&rec.Body)
		present, err := rest.Members(target)
		if err != nil {
			return err
		}
		rest.MergePatch(present, patch)
		fresh := reflect.New(reflect.TypeOf(target).Elem())
		if err := s.api.DecodeObject(present, fresh.Interface()); err != nil {
			return err
		}
		reflect.ValueOf(target).Elem().Set(fresh.Elem())
		s.complete(r, &rec.Body)
		return nil
	})
	if err != nil {
		return err
	}
	w.Header().Set("ETag", rest.ETagOf(part.Revision, nil))
	return rest.WriteJSON(w, r, http.StatusOK, s.show(part))
}

// delete archives the record, and it is not shown any more. The file of a document goes at once, words stay in the log
// until the customer is erased.
func (s *customerPart[T]) delete(w http.ResponseWriter, r *http.Request) error {
	part, err := s.load(r)
	if err != nil {
		return err
	}
	if _, err := s.log.Archive(r.Context(), rest.Author(r), part.Account, part.ID, 0, func(rec *record.Record[T]) error {
		return rest.Precondition(r, rec.Revision)
	}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Note is a note as it is answered.
type Note struct {
	ID string `json:"id" doc:"Identity." example:"not_1234"`
	record.NoteFields
	Object     string `json:"object" doc:"Always note." example:"note"`
	CustomerID string `json:"customer_id" example:"cus_1234"`
	rest.Stamps
}

func (a *API) customerNoteRoutes() {
	s := &customerPart[record.Note]{api: a, path: "/v1/customers/{id}/notes", noun: "note", name: "CustomerNote",
		log: a.desk.Notes, listing: &query.CustomerNotes,
		view: Note{}, fields: record.NoteFields{}, owner: func(n *record.Note) *string { return &n.CustomerID },
		writable: func(n *record.Note) any { return &n.NoteFields },
		complete: func(r *http.Request, n *record.Note) {
			if n.Author == "" {
				n.Author = rest.Author(r).Actor
			}
		},
		show: func(rec record.Record[record.Note]) any {
			return Note{ID: fleet.FormatID(fleet.NotePrefix, rec.ID), NoteFields: rec.Body.NoteFields, Object: "note",
				CustomerID: rec.Body.CustomerID, Stamps: rest.StampsOf(rec)}
		},
	}
	s.register()
}

// CustomerMerge is the body of the action that merges a customer into another.
type CustomerMerge struct {
	Into string `json:"into" doc:"The customer that stays." example:"cus_1234"`
}

func (a *API) customerMergeRoutes(s *rest.Resource[record.Customer]) {
	rest.Act(s, rest.Action[record.Customer, CustomerMerge]{
		Verb: "merge", Summary: "Merge a customer into another, who is the same person", AnyRevision: true,
		About: "The customer is archived and names the other in `merged_into`; both ids stay good. Notes, documents " +
			"and bookings are found through both. The other takes over external references, tags, a do-not-rent, the " +
			"higher risk level, and what was not known of it. Repeating it is harmless.",
		Do: func(c *rest.Call[record.Customer], sent CustomerMerge) (record.Record[record.Customer], error) {
			into, err := fleet.ParseID(fleet.CustomerPrefix, sent.Into)
			if err != nil {
				return record.Record[record.Customer]{}, fleet.Invalid(fleet.FieldError{Pointer: "/into",
					Code:   "not_found",
					Detail: fmt.Sprintf("%q is not the id of a customer", sent.Into)})
			}
			return a.desk.Persons.MergeCustomer(c.Context(), c.By, c.Account, c.ID, into)
		},
	})
}
