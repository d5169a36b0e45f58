package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/sheet"

	"github.com/danielgtaylor/huma/v2"
)

// docsBody is what a request sends, as docs.html shows it.
type docsBody struct {
	Name     string // of its schema, if it has one of its own
	Types    string // media types
	About    string
	Optional bool
	Fields   []docsField // required ones first
	Example  string      // JSON, of a body that is JSON
}

// BodyShown shows what a route takes, nil if nothing.
func (a *Server) BodyShown(rt *Route) (*docsBody, error) {
	if rt.Body == nil {
		return nil, nil
	}
	s := a.Schema(rt.Body, "")
	b := &docsBody{Name: strings.TrimPrefix(s.Ref, "#/components/schemas/"), Types: strings.Join(rt.BodyTypes, ", "),
		Optional: rt.Optional}
	registry := a.Docs.OpenAPI().Components.Schemas
	s = sheet.Resolve(registry, s)
	b.About = s.Description
	of := s
	for _, some := range [][]*huma.Schema{s.OneOf, s.AnyOf} {
		if len(some) > 0 {
			of = sheet.Resolve(registry, some[0])
		}
	}
	b.Fields = schemaFields(of)
	slices.SortStableFunc(b.Fields, func(x, y docsField) int {
		switch {
		case x.Required == y.Required:
			return 0
		case x.Required:
			return -1
		}
		return 1
	})
	if !slices.ContainsFunc(rt.BodyTypes, func(t string) bool {
		return strings.Contains(t, "json")
	}) || of.Type != huma.TypeObject {
		return b, nil
	}
	text, err := json.MarshalIndent(exampleOf(registry, s, 0), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write an example of %s: %w", rt.ID, err)
	}
	if b.Example = string(text); b.Example == "{}" {
		b.Example = ""
	}
	return b, nil
}

// deepestExample is how deep examples go into members of members.
const deepestExample = 6

// exampleOf makes a value that fits a schema: of an object the members that must be there and those that
// have an example.
func exampleOf(registry huma.Registry, s *huma.Schema, depth int) any {
	s = sheet.Resolve(registry, s)
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
				depth < deepestExample && !p.ReadOnly && len(sheet.Resolve(registry, p).Examples) > 0 {
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
