package rest

import (
	"maps"
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/sheet"

	"github.com/danielgtaylor/huma/v2"
)

// PatchSchema describes a merge patch (RFC 7396) of a value's type, VehiclePatch of VehicleFields: the same members,
// none of them required, and null to remove one. Objects merge, so that their members have patches too; arrays are
// replaced whole.
func (a *Server) PatchSchema(fields any) *huma.Schema {
	return a.patchOf(a.Schema(fields, ""))
}

// patchOf describes a merge patch of what a schema describes, which is an object by its name or stands for itself.
func (a *Server) patchOf(full *huma.Schema) *huma.Schema {
	registry := a.Docs.OpenAPI().Components.Schemas
	of := sheet.Resolve(registry, full)
	if full.Ref == "" || of.Type != huma.TypeObject || of.Properties == nil {
		return full
	}
	name := strings.TrimPrefix(full.Ref, "#/components/schemas/")
	patch := strings.TrimSuffix(name, "Fields") + "Patch"
	ref := &huma.Schema{Ref: "#/components/schemas/" + patch}
	about := "A merge patch of " + name + ": what is not given stays, null removes."
	if made := registry.Map()[patch]; made != nil {
		if made.Description != about {
			panic(patch + " is the name of two patches: of " + name + " too, which needs another name")
		}
		return ref
	}
	part := &huma.Schema{Type: of.Type, AdditionalProperties: of.AdditionalProperties,
		Properties: maps.Clone(of.Properties), Description: about}
	registry.Map()[patch] = part // before its members, which may be of the same type
	for member, p := range of.Properties {
		part.Properties[member] = a.patchMember(p)
	}
	part.PrecomputeMessages()
	return ref
}

// patchMember describes a member of a merge patch: null removes it, and nothing is put in its place.
func (a *Server) patchMember(full *huma.Schema) *huma.Schema {
	if full.Ref != "" {
		return &huma.Schema{Description: full.Description, AnyOf: []*huma.Schema{a.patchOf(full), {Type: "null"}}}
	}
	part := *full
	part.Default = nil
	if part.Type == "" {
		return &part
	}
	part.Nullable = true
	if part.Enum != nil && !slices.Contains(part.Enum, nil) {
		part.Enum = append(slices.Clone(part.Enum), nil)
	}
	part.PrecomputeMessages()
	return &part
}
