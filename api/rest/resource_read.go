package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Get answers with the record that the path names, or with a 304 if the caller has it.
func (s *Resource[T]) Get(w http.ResponseWriter, r *http.Request) error {
	id, err := PathID(r, s.Noun, s.Log.Kind().Prefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	var rec record.Record[T]
	stored, ok := s.Server.Roster.Get(r.Context(), s.Listing, account, id)
	if !ok {
		if rec, err = s.Load(r); err != nil {
			return err
		}
	}
	expand, err := s.expansions(r)
	if err != nil {
		return err
	}
	if ok && s.Ready != nil && expand == nil {
		return s.getReady(w, r, stored)
	}
	if ok {
		if rec, err = FromStored[T](account, stored); err != nil {
			return err
		}
	}
	views, err := s.Show(r.Context(), []record.Record[T]{rec}, expand)
	if err != nil {
		return err
	}
	tag := ETagOf(rec.Revision, views[0].Live)
	w.Header().Set("ETag", tag)
	if Unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	view, err := s.pick(r, views[0].View)
	if err != nil {
		return err
	}
	return WriteJSON(w, r, http.StatusOK, view)
}

// Load reads the record that the path names.
func (s *Resource[T]) Load(r *http.Request) (record.Record[T], error) {
	id, err := PathID(r, s.Noun, s.Log.Kind().Prefix)
	if err != nil {
		return record.Record[T]{}, err
	}
	account := auth.From(r.Context()).Account
	defer s.Server.Roster.Wrote(account, s.Log.Kind().Name) // what is shown now is not older the next time
	return s.Log.Get(r.Context(), account, id)
}

// pick keeps the members that fields= names, and id, in their order.
func (s *Resource[T]) pick(r *http.Request, view any) (any, error) {
	view = s.Server.WithAllMembers(view)
	if ListParam(r, "fields") == nil {
		return view, nil
	}
	text, err := EncodeJSON(view, false)
	if err != nil {
		return nil, err
	}
	return s.pickOf(r, text)
}

// pickOf is pick of a view with all its members, as it is written in miles.
func (s *Resource[T]) pickOf(r *http.Request, text []byte) (any, error) {
	names := ListParam(r, "fields")
	if names == nil {
		return json.RawMessage(text), nil
	}
	known := s.Server.Docs.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(s.View), false, "").Properties
	for _, name := range names {
		if known[name] == nil {
			return nil, InvalidParam("fields", "names "+name+", which "+Article(s.Noun)+" does not have"+
				DidYouMean(name, slices.Sorted(maps.Keys(known))))
		}
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
func (s *Resource[T]) expansions(r *http.Request) ([]string, error) {
	names, p := ListParam(r, "expand"), auth.From(r.Context())
	for _, name := range names {
		if !slices.Contains(s.Expand, name) {
			return nil, InvalidParam("expand", "names "+name+"; it may name "+strings.Join(s.Expand, ", "))
		}
		if scope, ok := s.Scope.Needs[name]; ok && !p.Has(scope) {
			return nil, fleet.NewError(fleet.CodeForbidden,
				p.Lacks()+" the scope "+string(scope)+", which expand="+name+" needs.")
		}
	}
	return names, nil
}
