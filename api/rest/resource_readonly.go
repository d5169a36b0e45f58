package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
)

// refuseReadOnly removes from object the members that the view has and callers do not write, if they are as the
// record has them, and refuses those that are not. Members that change by themselves cannot be expected to be as they
// were read: in a body that carries the present revision, and so was read and is written back, they may differ.
func (s *Resource[T]) refuseReadOnly(object map[string]any, view, fields any) error {
	registry := s.Server.Docs.OpenAPI().Components.Schemas
	shownMembers := registry.Schema(reflect.TypeOf(s.View), false, "").Properties
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
			if present, err = Members(view); err != nil {
				return err
			}
			dropNulls(present) // as they were in object
		}
		readBack := view != nil && slices.Contains(s.Moving, name) && reflect.DeepEqual(present["revision"], revision)
		if view == nil || !readBack && !reflect.DeepEqual(present[name], value) {
			refused = append(refused, fleet.FieldError{Pointer: "/" + name, Code: "read_only",
				Detail: "is set by the system and cannot be changed here"})
			continue
		}
		delete(object, name)
	}
	if refused != nil {
		slices.SortFunc(refused, func(a, b fleet.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
		return fleet.Invalid(refused...)
	}
	return nil
}

// Members returns a value as the members of its JSON object.
func Members(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	object := map[string]any{}
	return object, json.Unmarshal(text, &object)
}
