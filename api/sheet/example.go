package sheet

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// deepestExample is how deep examples go into members of members.
const deepestExample = 6

// Example makes a value that fits a schema: of an object the members that must be there and those that have an example.
func Example(registry huma.Registry, s *huma.Schema) any { return exampleOf(registry, s, 0) }

func exampleOf(registry huma.Registry, s *huma.Schema, depth int) any {
	s = Resolve(registry, s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.OneOf) > 0:
		return exampleOf(registry, s.OneOf[0], depth)
	case len(s.AnyOf) > 0:
		return exampleOf(registry, s.AnyOf[0], depth)
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeObject:
		object := map[string]any{}
		for name, p := range s.Properties {
			if required := slices.Contains(s.Required, name); required ||
				depth < deepestExample && !p.ReadOnly && len(Resolve(registry, p).Examples) > 0 {
				object[name] = exampleOf(registry, p, depth+1)
			}
		}
		return object
	case huma.TypeArray:
		if depth > deepestExample {
			return []any{}
		}
		return []any{exampleOf(registry, s.Items, depth+1)}
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return true
	}
	switch s.Format {
	case "date-time":
		return "2026-07-01T10:00:00Z"
	case "date":
		return "2026-07-01"
	case "email":
		return "ada@example.com"
	}
	return "text"
}

// AllowNulls says of members that are objects which of them may be null in answers: a reference cannot say so by
// itself. t is the type that the schema is of.
func AllowNulls(t reflect.Type, s *huma.Schema) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p := s.Properties[member]; f.Type.Kind() == reflect.Pointer && p != nil && p.Ref != "" {
			s.Properties[member] = &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
		}
	}
}
