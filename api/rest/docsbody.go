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
	Example  string      // JSON, of a body that is JSON or a form
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
		return strings.Contains(t, "json") || strings.Contains(t, "form")
	}) || of.Type != huma.TypeObject {
		return b, nil
	}
	text, err := json.MarshalIndent(sheet.Example(registry, s), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write an example of %s: %w", rt.ID, err)
	}
	if b.Example = string(text); b.Example == "{}" {
		b.Example = ""
	}
	return b, nil
}
