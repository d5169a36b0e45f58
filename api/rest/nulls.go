package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// Bodies leave out what is not known, as they are stored so; answers say null, so that a client sees every member that
// there is. The members of a record's view that may be left out are those that its callers write.

// fullMember is a member of a view.
type fullMember struct {
	index  []int
	absent bool // may be left out
}

// fullForm is how a type of views is written with all its members.
type fullForm struct {
	shape   reflect.Type
	members []fullMember
}

var (
	fullForms sync.Map // by reflect.Type
	marshaler = reflect.TypeFor[json.Marshaler]()
)

// memberOf splits a tag for JSON into the name and whether the member may be left out; "" is no member.
func memberOf(f *reflect.StructField) (string, bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
		return "", false
	}
	return name, strings.Contains(options, "omit")
}

func fullFormOf(t reflect.Type) *fullForm {
	if known, ok := fullForms.Load(t); ok {
		return known.(*fullForm)
	}
	depth := map[string]int{} // an outer member hides inner ones of its name
	fields := reflect.VisibleFields(t)
	for i := range fields {
		if name, _ := memberOf(&fields[i]); name != "" && (depth[name] == 0 || len(fields[i].Index) < depth[name]) {
			depth[name] = len(fields[i].Index)
		}
	}
	form := &fullForm{}
	var shape []reflect.StructField
	for i := range fields {
		f := &fields[i]
		name, absent := memberOf(f)
		if name == "" || depth[name] != len(f.Index) {
			continue
		}
		shape = append(shape, reflect.StructField{Name: fmt.Sprint("F", len(shape)), Type: reflect.TypeFor[any](),
			Tag: reflect.StructTag(`json:"` + name + `"`)})
		form.members = append(form.members, fullMember{f.Index, absent})
	}
	form.shape = reflect.StructOf(shape)
	fullForms.Store(t, form)
	return form
}

// WithAllMembers is a view with all its members: what is not known is null, an empty list [], and no metadata {}.
func (a *Server) WithAllMembers(view any) any {
	v := reflect.ValueOf(view)
	if v.Kind() == reflect.Pointer && !v.IsNil() && a.views[v.Type().Elem()] {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && !v.IsNil() && a.views[v.Type().Elem()] {
		all := make([]any, v.Len())
		for i := range all {
			all[i] = a.WithAllMembers(v.Index(i).Interface())
		}
		return all
	}
	if !v.IsValid() || !a.views[v.Type()] {
		return view
	}
	form := fullFormOf(v.Type())
	whole := reflect.New(form.shape).Elem()
	for i, m := range form.members {
		value := v.FieldByIndex(m.index)
		switch {
		case !m.absent || value.Kind() == reflect.Bool:
		case value.Kind() == reflect.Slice && value.Len() == 0:
			value = reflect.MakeSlice(value.Type(), 0, 0)
		case value.Kind() == reflect.Map && value.Len() == 0:
			value = reflect.MakeMap(value.Type())
		case value.IsZero():
			continue
		}
		if inner := reflect.ValueOf(a.WithAllMembers(value.Interface())); inner.IsValid() {
			whole.Field(i).Set(inner)
		}
	}
	return whole.Interface()
}

// viewed notes that a type is answered with all its members.
func (a *Server) viewed(view any) {
	if t := reflect.TypeOf(view); t.Kind() == reflect.Struct && !t.Implements(marshaler) {
		a.views[t] = true
	}
}

// tellFull describes a view with all its members: each is there, and may be null if it may be left out of a body.
func (a *Server) tellFull(t reflect.Type, s *huma.Schema) {
	if !a.views[t] {
		return
	}
	s.Required = nil
	for _, f := range reflect.VisibleFields(t) {
		name, absent := memberOf(&f)
		p := s.Properties[name]
		if p == nil {
			continue
		}
		kind := f.Type.Kind()
		if absent && p.Ref != "" {
			s.Properties[name] = &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
		} else if absent && kind != reflect.Bool && kind != reflect.Slice && kind != reflect.Map &&
			p.Type != "" && !p.Nullable {
			open := *p
			open.Nullable = true
			if open.Enum != nil {
				open.Enum = append(append([]any{}, open.Enum...), nil)
			}
			s.Properties[name] = &open
		}
	}
	if s.Properties["id"] != nil { // a record, of which fields= may ask for a part
		s.Required = []string{"id"}
		s.Description = strings.TrimSpace(s.Description +
			" Each member is there, null if it is not known, unless `fields` asked for some of them alone: then those are, and `id`.")
		return
	}
	for name := range s.Properties {
		s.Required = append(s.Required, name)
	}
	slices.Sort(s.Required)
}
