package rest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query"
)

// comparisons are the suffixes of filters that compare.
var comparisons = []string{"gte", "gt", "lte", "lt"}

// ListParams are the parameters by which the records of a listing are chosen and sorted.
func (s *Resource[T]) ListParams() []Param {
	var params []Param
	shown := s.Server.membersOf(s.View)
	for _, f := range s.Listing.Fields {
		p := Param{Name: f.Name, Multiple: true, NotEmpty: true, Enum: valuesOf(s.Server.memberNamed(shown, f.Name)),
			Prefix: s.Server.prefixNamed(f.Name), About: "One value, or several separated by commas."}
		if f.Values != nil {
			p.Enum = f.Values
		}
		if f.Name == "status" && s.States != nil {
			p.Enum = s.States
		}
		if p.Enum != nil {
			p.About = "One value, or several separated by commas, of " + strings.Join(p.Enum, ", ") + "."
		}
		switch f.Type {
		case query.WordsField:
			p.About += " In any case."
		case query.CodeField:
			p.About += " By letters and digits, in any case."
		case query.NumberField:
			p.Type = "integer"
		case query.TimeField:
			p.Format = "date-time"
		}
		params = append(params, p)
		if f.Range {
			for _, op := range comparisons {
				params = append(params,
					Param{Name: f.Name + "[" + op + "]", Type: p.Type, Format: p.Format, About: "Compares " + f.Name + "."})
			}
		}
	}
	words := "Words, all of which must occur."
	for _, r := range s.Listing.Related {
		words += " Also in what the " + strings.TrimSuffix(r.Field, "_id") + " is known by, with the scope `" +
			string(s.Server.Kinds[r.Prefix].Read) + "`."
	}
	return append(append(params, s.Params.List...),
		Param{Name: "sort", About: "Members to sort by, separated by commas, with - for descending; of " +
			strings.Join(append([]string{"id"}, s.sortable()...), ", ") + ". `id` is always the last."},
		Param{Name: "q", About: words},
		Param{Name: "external_ref", NotEmpty: true, About: "The id that another system has for the record."},
		Param{Name: "updated_since", Format: "date-time", About: "Only what changed at or after this instant."},
		Param{Name: "archived", Enum: []string{"true", "false", "all"},
			About: "`true` lists only archived records, `all` those too."},
	)
}

// sortable are the names by which a list may be sorted, beside the id.
func (s *Resource[T]) sortable() (names []string) {
	for _, f := range s.Listing.Fields {
		if f.Sort {
			names = append(names, f.Name)
		}
	}
	return names
}

// prefixNamed is what the ids begin with that a filter of a name asks for; "" if it asks for none.
func (a *Server) prefixNamed(filter string) string {
	for prefix, k := range a.Kinds {
		if slices.Contains(k.NamedBy, filter) {
			return prefix
		}
	}
	return ""
}

// membersOf returns the schemas of a view's members by name.
func (a *Server) membersOf(view any) map[string]*huma.Schema {
	registry := a.Docs.OpenAPI().Components.Schemas
	s := registry.Schema(reflect.TypeOf(view), true, "")
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	return s.Properties
}

// memberNamed is the member of a view that a filter goes by: deposit_status is the status within deposit.
func (a *Server) memberNamed(shown map[string]*huma.Schema, name string) *huma.Schema {
	stem, rest, _ := strings.Cut(name, "_")
	if shown[name] != nil || shown[stem] == nil {
		return shown[name]
	}
	return sheet.Inner(a.Docs.OpenAPI().Components.Schemas,
		sheet.Resolve(a.Docs.OpenAPI().Components.Schemas, shown[stem]), rest)
}

// valuesOf returns the values that a member, or each of its elements, can have, if its schema tells; else nil.
func valuesOf(member *huma.Schema) []string {
	if member == nil {
		return nil
	}
	if member.Type == huma.TypeArray {
		return valuesOf(member.Items)
	}
	if member.Type == huma.TypeBoolean {
		return []string{"true", "false"}
	}
	var values []string
	for _, v := range member.Enum {
		values = append(values, fmt.Sprint(v))
	}
	return values
}

// ListSchema describes the envelope of a list of a type.
func (a *Server) ListSchema(view any) *huma.Schema {
	registry := a.Docs.OpenAPI().Components.Schemas
	return &huma.Schema{
		Type: "object", Required: []string{"data", "pagination"},
		Properties: map[string]*huma.Schema{
			"data":       {Type: "array", Items: registry.Schema(reflect.TypeOf(view), true, "")},
			"pagination": registry.Schema(reflect.TypeFor[Pagination](), true, ""),
		},
	}
}

// FieldsParams are the parameters that choose members of the records of a list.
var FieldsParams = []Param{{Name: "fields",
	About: "Names of members, separated by commas: only these and `id` are answered."}}

// Without returns the parameters but one, with its comparisons.
func Without(params []Param, name string) []Param {
	return slices.DeleteFunc(slices.Clone(params), func(p Param) bool { return p.Name == name })
}
