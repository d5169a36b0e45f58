package rest

import (
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/roster"
)

// Register registers list, create, batch, get, replace, patch, archive and history, and with them imports, exports and
// what expand= shows of the records; without says which of those words are not wanted.
func (s *Resource[T]) Register(without ...string) {
	if s.Create == nil {
		s.Create = s.Fields
	}
	if s.Make == nil {
		s.Make = s.makeOfWritable
	}
	if s.Ready != nil {
		s.Ready.pieces = roster.NewPieces(s.Server.Roster)
	}
	s.Server.viewed(s.View)
	s.Server.Related[s.Listing] = s.showByID
	s.Server.Events.At(fleet.Kind(s.Log.Kind().Name), s.Path+"/")
	name, names := joined(s.Noun), joined(s.Nouns) // "APIKey", "APIKeys"
	one := s.Path + "/{id}"
	fieldParams := []Param{{Name: "fields", About: "Names of members, separated by commas: only these and `id` are answered, so that the schema of an answer requires no other."}}
	if s.Expand != nil {
		fieldParams = append(fieldParams,
			Param{Name: "expand", About: "Related records to answer too: " + s.expandable() + "."})
	}
	listed, forms := slices.Concat(PageParams, s.ListParams(), fieldParams), []string(nil)
	if s.Table != nil {
		listed, forms = append(listed, tableParam(s.Table.Columns)), export.MediaTypes(tableForms)
	}
	sentTypes := []string{"application/json"}
	for _, o := range []struct {
		key string
		rt  Route
		h   handlerFunc
	}{
		{"list", Route{Method: "GET", Path: s.Path, ID: "list" + names, Summary: "List " + s.Nouns, Scope: s.Scope.Read,
			Params: listed, Reply: s.Server.ListSchema(s.View), ReplyTypes: forms}, s.List},
		{"create", Route{Method: "POST", Path: s.Path, ID: "create" + name, Summary: "Create " + Article(s.Noun),
			About: s.About, Scope: s.Scope.Write,
			Body: s.Create, Status: 201, Reply: s.View, Early: s.Early}, s.post},
		{"get", Route{Method: "GET", Path: one, ID: "get" + name, Summary: "Get " + Article(s.Noun), Scope: s.Scope.Read,
			Params: append([]Param{IfNoneMatchParam}, fieldParams...), Reply: s.View}, s.Get},
		{"replace",
			Route{Method: "PUT", Path: one, ID: "replace" + name, Summary: "Replace " + Article(s.Noun), Scope: s.Scope.Write,
				About:  "Replaces everything that callers write. Members that are read-only are ignored if unchanged, and refused otherwise; in a body that carries the present `revision`, those that change by themselves (a place, a charge) may differ.",
				Params: append([]Param{IfMatchParam}, s.Params.Change...), Body: s.Fields, BodyTypes: sentTypes, Reply: s.View},
			s.put},
		{"patch",
			Route{Method: "PATCH", Path: one, ID: "update" + name, Summary: "Change " + Article(s.Noun), Scope: s.Scope.Write,
				About:     "A merge patch (RFC 7396): null removes a member, objects merge, arrays are replaced whole.",
				Params:    append([]Param{IfMatchParam}, s.Params.Change...),
				BodyTypes: []string{"application/merge-patch+json", "application/json"}, Reply: s.View}, s.patch},
		{"archive",
			Route{Method: "DELETE", Path: one, ID: "archive" + name, Summary: "Archive " + Article(s.Noun), Scope: s.Scope.Write,
				About:  "The record stays readable by its id, with `archived_at`, and is left out of lists.",
				Params: []Param{IfMatchParam}, Status: 204}, s.archive},
		{"history", Route{Method: "GET", Path: one + "/history", ID: "list" + name + "History",
			Summary: "List the revisions of a " + s.Noun,
			About:   "Newest first: when, by whom, and what changed.", Scope: s.Scope.Read, Params: PageParams,
			Reply: s.Server.ListSchema(Revision{})}, s.history},
	} {
		if !slices.Contains(without, o.key) {
			if o.key == "patch" {
				o.rt.Body = s.Server.PatchSchema(s.Fields) // made here, as it adds schemas to the document
			}
			o.rt.Tag = s.Tag
			s.Server.Handle(o.rt, o.h)
		}
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") && !strings.Contains(s.Path, "{") {
		s.fixed = slices.Contains(without, "patch")
		s.Server.Transfers[strings.TrimPrefix(s.Path, "/v1/")] = s
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") {
		s.batchRoute(names)
	}
}

// expandable says what expand= may name, and with which scopes.
func (s *Resource[T]) expandable() string {
	names := slices.Clone(s.Expand)
	for i, name := range names {
		if scope, ok := s.Scope.Needs[name]; ok {
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

// Article puts the article before a noun.
func Article(noun string) string {
	if strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
