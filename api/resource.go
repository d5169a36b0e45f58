package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// resource is one kind of record as the interface shows it: the routes that every kind has, and what differs.
type resource[T any] struct {
	api     *API
	path    string // "/v1/vehicles"
	tag     string // "Vehicles"
	noun    string // "vehicle"
	nouns   string // "vehicles"
	about   string // what is said of making one, if anything
	log     *record.Log[T]
	listing *query.Listing
	read    auth.Scope
	write   auth.Scope

	view     any                   // zero value of a shown record
	fields   any                   // zero value of what callers write
	create   any                   // zero value of what callers write when creating, if that is more
	expand   []string              // what expand= may name
	needs    map[string]auth.Scope // that members of expand need beside read
	moving   []string              // members of the view that change by themselves
	imported map[string]any        // members that a record has which is imported, unless its row says otherwise
	states   []string              // of its status, if a list can be filtered by that
	writable func(*T) any          // pointer to the part of a body that callers write, of the type of fields

	// make makes the body of a new record from what was sent, already held against the schema of create.
	make func(r *http.Request, object map[string]any) (T, error)
	// show makes the views of records, in order. The second value of each is what a tag must tell apart beside the
	// revision, or nil.
	show func(ctx context.Context, records []record.Record[T], expand []string) ([]shown, error)
	// settle, if not nil, completes a body that is about to be written, and may refuse it; before is nil and id zero for a new record.
	settle func(r *http.Request, id uint64, before, after *T) error
	// check, if not nil, refuses bodies that the schema cannot.
	check func(body *T) error
	// refers, if not nil, refuses bodies that name records which do not exist.
	refers func(r *http.Request, body *T) error
	// narrow, if not nil, gives the ids that a list is narrowed to, or nil for any; narrowParams are what it reads.
	narrow       func(r *http.Request) (*[]uint64, error)
	narrowParams []param
	// table, if not nil, is the table for people that a request asks for.
	table        func(r *http.Request) (*table[T], error)
	tableColumns []tableColumn // all that there are
	// add, if not nil, writes a new record in the place of log.Create, for single ones, batches and imports alike. Repeated under one
	// id it must give what the first time gave. Of r it may use the context and author(r); the body was made and judged.
	add func(ctx context.Context, r *http.Request, id uint64, body T) (record.Record[T], error)
	// update, if not nil, writes a change in the place of log.Update; changeParams are the parameters that it takes of PUT and PATCH.
	update       func(r *http.Request, id uint64, mutate func(*record.Record[T]) error) (record.Record[T], error)
	changeParams []param
	// widen, if not nil, may add to the values that filters ask for.
	widen func(r *http.Request, filters []query.Filter) error
	// within, if not nil, gives the filters that stand in the path: those of a list of another record's.
	within func(r *http.Request) ([]query.Filter, error)
	fixed  bool // it cannot be patched; register knows
	// guard, if not nil, may refuse to archive.
	guard func(*record.Record[T]) error
	// used, if not nil, refuses to archive what other records use.
	used func(r *http.Request, rec *record.Record[T]) error
	// leave, if not nil, begins an attempt to archive: may refuses, and done is told what became of it.
	leave func(r *http.Request, id uint64) (may func(*record.Record[T]) error, done func(error))
}

// shown is a record as it is answered.
type shown struct {
	view any
	live []byte // of what the view shows beside the record itself; nil if nothing
}

// register registers list, create, batch, get, replace, patch, archive and history; without says which are not wanted.
func (s *resource[T]) register(without ...string) {
	if s.create == nil {
		s.create = s.fields
	}
	s.api.viewed(s.view)
	name, names := joined(s.noun), joined(s.nouns) // "APIKey", "APIKeys"
	one := s.path + "/{id}"
	fieldParams := []param{{Name: "fields", About: "Names of members, separated by commas: only these and `id` are answered, so that the schema of an answer requires no other."}}
	if s.expand != nil {
		fieldParams = append(fieldParams, param{Name: "expand", About: "Related records to answer too: " + s.expandable() + "."})
	}
	listed, forms := slices.Concat(pageParams, s.listParams(), fieldParams), []string(nil)
	if s.table != nil {
		listed, forms = append(listed, tableParam(s.tableColumns)), export.MediaTypes(tableForms)
	}
	ifMatch := param{Name: "If-Match", In: "header", About: "The `ETag` that the change is made upon, or its revision; 412 if there is a newer one."}
	ifNone := param{Name: "If-None-Match", In: "header", About: "The `ETag` of what you have; 304 if it is still that."}
	sentTypes := []string{"application/json"}
	for _, o := range []struct {
		key string
		rt  route
		h   handlerFunc
	}{
		{"list", route{Method: "GET", Path: s.path, ID: "list" + names, Summary: "List " + s.nouns, Scope: s.read,
			Params: listed, Reply: s.api.listSchema(s.view), ReplyTypes: forms}, s.list},
		{"create", route{Method: "POST", Path: s.path, ID: "create" + name, Summary: "Create " + article(s.noun), About: s.about, Scope: s.write,
			Body: s.create, Status: 201, Reply: s.view}, s.post},
		{"get", route{Method: "GET", Path: one, ID: "get" + name, Summary: "Get " + article(s.noun), Scope: s.read,
			Params: append([]param{ifNone}, fieldParams...), Reply: s.view}, s.get},
		{"replace", route{Method: "PUT", Path: one, ID: "replace" + name, Summary: "Replace " + article(s.noun), Scope: s.write,
			About:  "Replaces everything that callers write. Members that are read-only are ignored if unchanged, and refused otherwise; in a body that carries the present `revision`, those that change by themselves (a place, a charge) may differ.",
			Params: append([]param{ifMatch}, s.changeParams...), Body: s.fields, BodyTypes: sentTypes, Reply: s.view}, s.put},
		{"patch", route{Method: "PATCH", Path: one, ID: "update" + name, Summary: "Change " + article(s.noun), Scope: s.write,
			About:  "A merge patch (RFC 7396): null removes a member, objects merge, arrays are replaced whole.",
			Params: append([]param{ifMatch}, s.changeParams...), Body: s.api.patchSchema(s.fields), BodyTypes: []string{"application/merge-patch+json", "application/json"}, Reply: s.view}, s.patch},
		{"archive", route{Method: "DELETE", Path: one, ID: "archive" + name, Summary: "Archive " + article(s.noun), Scope: s.write,
			About:  "The record stays readable by its id, with `archived_at`, and is left out of lists.",
			Params: []param{ifMatch}, Status: 204}, s.archive},
		{"history", route{Method: "GET", Path: one + "/history", ID: "list" + name + "History", Summary: "List the revisions of a " + s.noun,
			About: "Newest first: when, by whom, and what changed.", Scope: s.read, Params: pageParams, Reply: s.api.listSchema(Revision{})}, s.history},
	} {
		if !slices.Contains(without, o.key) {
			o.rt.Tag = s.tag
			s.api.handle(o.rt, o.h)
		}
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") && !strings.Contains(s.path, "{") {
		s.fixed = slices.Contains(without, "patch")
		s.api.transfers[strings.TrimPrefix(s.path, "/v1/")] = s
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") {
		s.batchRoute(names)
	}
}

// expandable says what expand= may name, and with which scopes.
func (s *resource[T]) expandable() string {
	names := slices.Clone(s.expand)
	for i, name := range names {
		if scope, ok := s.needs[name]; ok {
			names[i] += " (with the scope `" + string(scope) + "`)"
		}
	}
	return strings.Join(names, ", ")
}

// joined writes words as one, each with a capital.
func joined(words string) string {
	var name string
	for _, word := range strings.Fields(words) {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// article puts the article before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func (s *resource[T]) get(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.load(r)
	if err != nil {
		return err
	}
	expand, err := s.expansions(r)
	if err != nil {
		return err
	}
	views, err := s.show(r.Context(), []record.Record[T]{rec}, expand)
	if err != nil {
		return err
	}
	tag := etagOf(rec.Revision, views[0].live)
	w.Header().Set("ETag", tag)
	if unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	view, err := s.pick(r, views[0].view)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, view)
}

// load reads the record that the path names.
func (s *resource[T]) load(r *http.Request) (record.Record[T], error) {
	id, err := pathID(r, s.noun, s.log.Kind().Prefix)
	if err != nil {
		return record.Record[T]{}, err
	}
	return s.log.Get(r.Context(), auth.From(r.Context()).Account, id)
}

func (s *resource[T]) post(w http.ResponseWriter, r *http.Request) error {
	object, err := parseObject(bodyOf(r))
	if err != nil {
		return err
	}
	body, err := s.newBody(r, object)
	if err != nil {
		return err
	}
	rec, err := s.insert(r, s.api.newID(r), body)
	if err != nil {
		return err
	}
	return s.answer(w, r, http.StatusCreated, rec)
}

// newBody makes the body of a new record from what was sent, or says what is wrong with it.
func (s *resource[T]) newBody(r *http.Request, object map[string]any) (T, error) {
	var none T
	if err := s.api.knownNulls(object, s.create, s.view); err != nil {
		return none, err
	}
	dropNulls(object)
	if err := s.refuseReadOnly(object, nil, s.create); err != nil {
		return none, err
	}
	if err := s.api.validate(reflect.TypeOf(s.create), object); err != nil {
		return none, err
	}
	body, err := s.make(r, object)
	if err != nil {
		return none, err
	}
	if s.settle != nil {
		if err := s.settle(r, 0, nil, &body); err != nil {
			return none, err
		}
	}
	return body, s.judge(r, &body)
}

// insert writes a new record.
func (s *resource[T]) insert(r *http.Request, id uint64, body T) (record.Record[T], error) {
	if s.add != nil {
		return s.add(r.Context(), r, id, body)
	}
	rec, _, err := s.log.Create(r.Context(), author(r), auth.From(r.Context()).Account, id, body)
	return rec, err
}

// judge refuses a body that its schema cannot refuse.
func (s *resource[T]) judge(r *http.Request, body *T) error {
	if s.check != nil {
		if err := s.check(body); err != nil {
			return err
		}
	}
	if s.refers != nil {
		return s.refers(r, body)
	}
	return nil
}

// answer shows a record that was just written.
func (s *resource[T]) answer(w http.ResponseWriter, r *http.Request, status int, rec record.Record[T]) error {
	views, err := s.show(r.Context(), []record.Record[T]{rec}, nil)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", etagOf(rec.Revision, views[0].live))
	if status == http.StatusCreated {
		home := s.path // of the records; those of another record's are under the path that they are made by
		if strings.Contains(home, "{") {
			home = r.URL.Path
		} else if strings.HasPrefix(r.URL.Path, "/api/") {
			home = "/api" + home
		}
		w.Header().Set("Location", home+"/"+fleet.FormatID(s.log.Kind().Prefix, rec.ID))
	}
	return writeJSON(w, r, status, s.api.full(views[0].view))
}

func (s *resource[T]) put(w http.ResponseWriter, r *http.Request) error {
	object, err := parseObject(bodyOf(r))
	if err == nil {
		err = s.api.knownNulls(object, s.fields, s.view)
	}
	if err != nil {
		return err
	}
	// Each attempt gets its own copy: what is read-only is taken out of it, and must be looked at again by the next.
	return s.change(w, r, func(_ map[string]any) map[string]any { return maps.Clone(object) })
}

func (s *resource[T]) patch(w http.ResponseWriter, r *http.Request) error {
	patch, err := parseObject(bodyOf(r))
	if err == nil {
		err = s.api.knownNulls(patch, s.fields, s.view)
	}
	if err != nil {
		return err
	}
	return s.change(w, r, func(present map[string]any) map[string]any {
		mergePatch(present, patch)
		return present
	})
}

// change writes the record with what next makes of the members that callers write, and answers with it.
func (s *resource[T]) change(w http.ResponseWriter, r *http.Request, next func(present map[string]any) map[string]any) error {
	before, err := s.load(r)
	if err != nil {
		return err
	}
	rec, err := s.edit(r, before, next)
	if err != nil {
		return err
	}
	return s.answer(w, r, http.StatusOK, rec)
}

// edit writes a record that was read with what next makes of the members that callers write.
func (s *resource[T]) edit(r *http.Request, before record.Record[T], next func(present map[string]any) map[string]any) (record.Record[T], error) {
	mutate, err := s.editing(r, before, next)
	if err != nil {
		return before, err
	}
	if s.update != nil {
		return s.update(r, before.ID, mutate)
	}
	return s.log.Update(r.Context(), author(r), before.Account, before.ID, 0, mutate)
}

// editing is the change of a record that was read to what next makes of the members that callers write.
func (s *resource[T]) editing(r *http.Request, before record.Record[T], next func(present map[string]any) map[string]any) (func(*record.Record[T]) error, error) {
	views, err := s.show(r.Context(), []record.Record[T]{before}, nil)
	if err != nil {
		return nil, err
	}
	return func(rec *record.Record[T]) error {
		if err := precondition(r, rec.Revision); err != nil {
			return err
		}
		target := s.writable(&rec.Body)
		present, err := members(target)
		if err != nil {
			return err
		}
		if rec.Revision != before.Revision {
			// Another write came first: read-only members are held against what it made.
			if views, err = s.show(r.Context(), []record.Record[T]{*rec}, nil); err != nil {
				return err
			}
			before.Revision = rec.Revision
		}
		object := next(present)
		dropNulls(object)
		if err := s.refuseReadOnly(object, views[0].view, s.fields); err != nil {
			return err
		}
		sent, fresh := reflect.New(reflect.TypeOf(target).Elem()), reflect.New(reflect.TypeOf(target).Elem())
		if err := s.api.decodeObject(object, sent.Interface()); err != nil {
			return err
		}
		// As it will be read back: what is empty is absent, so that whoever sends what a GET answered changes nothing.
		text, err := json.Marshal(sent.Interface())
		if err != nil {
			return fmt.Errorf("encode %T: %w", sent.Interface(), err)
		}
		if err := json.Unmarshal(text, fresh.Interface()); err != nil {
			return fmt.Errorf("decode %T: %w", sent.Interface(), err)
		}
		was := rec.Body
		reflect.ValueOf(target).Elem().Set(fresh.Elem())
		if s.settle != nil {
			if err := s.settle(r, rec.ID, &was, &rec.Body); err != nil {
				return err
			}
		}
		return s.judge(r, &rec.Body)
	}, nil
}

// refuseReadOnly removes from object the members that the view has and callers do not write, if they are as the
// record has them, and refuses those that are not. Members that change by themselves cannot be expected to be as they
// were read: in a body that carries the present revision, and so was read and is written back, they may differ.
func (s *resource[T]) refuseReadOnly(object map[string]any, view, fields any) error {
	registry := s.api.docs.OpenAPI().Components.Schemas
	shownMembers := registry.Schema(reflect.TypeOf(s.view), false, "").Properties
	writable := registry.Schema(reflect.TypeOf(fields), false, "").Properties
	revision := object["revision"]
	var present map[string]any
	var refused []fleet.FieldError
	for name, value := range object {
		if writable[name] != nil || shownMembers[name] == nil {
			continue
		}
		if present == nil && view != nil {
			var err error
			if present, err = members(view); err != nil {
				return err
			}
			dropNulls(present) // as they were in object
		}
		readBack := view != nil && slices.Contains(s.moving, name) && reflect.DeepEqual(present["revision"], revision)
		if view == nil || !readBack && !reflect.DeepEqual(present[name], value) {
			refused = append(refused, fleet.FieldError{Pointer: "/" + name, Code: "read_only", Detail: "is set by the system and cannot be changed here"})
			continue
		}
		delete(object, name)
	}
	if refused != nil {
		slices.SortFunc(refused, func(a, b fleet.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
		return validation(refused...)
	}
	return nil
}

// members returns a value as the members of its JSON object.
func members(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	object := map[string]any{}
	return object, json.Unmarshal(text, &object)
}

func (s *resource[T]) archive(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, s.noun, s.log.Kind().Prefix)
	if err != nil {
		return err
	}
	may, done := func(*record.Record[T]) error { return nil }, func(error) {}
	if s.leave != nil {
		may, done = s.leave(r, id)
	}
	_, err = s.log.Archive(r.Context(), author(r), auth.From(r.Context()).Account, id, 0, func(rec *record.Record[T]) error {
		if err := precondition(r, rec.Revision); err != nil {
			return err
		}
		if s.used != nil {
			if err := s.used(r, rec); err != nil {
				return err
			}
		}
		if err := may(rec); err != nil {
			return err
		}
		if s.guard != nil {
			if err := s.guard(rec); err != nil {
				return err
			}
		}
		return nil
	})
	if done(err); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// act changes a record by an action, and answers with it.
func (s *resource[T]) act(w http.ResponseWriter, r *http.Request, mutate func(*record.Record[T]) error) error {
	id, err := pathID(r, s.noun, s.log.Kind().Prefix)
	if err != nil {
		return err
	}
	rec, err := s.log.Update(r.Context(), author(r), auth.From(r.Context()).Account, id, 0, func(rec *record.Record[T]) error {
		if err := precondition(r, rec.Revision); err != nil {
			return err
		}
		return mutate(rec)
	})
	if err != nil {
		return err
	}
	return s.answer(w, r, http.StatusOK, rec)
}

// pick keeps the members that fields= names, and id, in their order.
func (s *resource[T]) pick(r *http.Request, view any) (any, error) {
	names := listParam(r, "fields")
	view = s.api.full(view)
	if names == nil {
		return view, nil
	}
	known := s.api.docs.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(s.view), false, "").Properties
	for _, name := range names {
		if known[name] == nil {
			return nil, invalidParam("fields", "names "+name+", which "+article(s.noun)+" does not have")
		}
	}
	text, err := encodeJSON(view, false)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	kept := []byte{'{'}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if name == "id" || slices.Contains(names, name.(string)) {
			if len(kept) > 1 {
				kept = append(kept, ',')
			}
			kept = fmt.Appendf(kept, "%q:%s", name, value)
		}
	}
	return json.RawMessage(append(kept, '}')), nil
}

// expansions reads expand=.
func (s *resource[T]) expansions(r *http.Request) ([]string, error) {
	names := listParam(r, "expand")
	for _, name := range names {
		if !slices.Contains(s.expand, name) {
			return nil, invalidParam("expand", "names "+name+"; it may name "+strings.Join(s.expand, ", "))
		}
		if scope, ok := s.needs[name]; ok && !auth.From(r.Context()).Has(scope) {
			return nil, fleet.NewError(fleet.CodeForbidden, "The API key lacks the scope "+string(scope)+", which expand="+name+" needs.")
		}
	}
	return names, nil
}
