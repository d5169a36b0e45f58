package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

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
		if scope, ok := s.scope.needs[name]; ok && !auth.From(r.Context()).Has(scope) {
			return nil, fleet.NewError(fleet.CodeForbidden, "The API key lacks the scope "+string(scope)+", which expand="+name+" needs.")
		}
	}
	return names, nil
}
