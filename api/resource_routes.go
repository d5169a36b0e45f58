package api

import (
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/export"
)

// register registers list, create, batch, get, replace, patch, archive and history; without says which are not wanted.
func (s *resource[T]) register(without ...string) {
	if s.create == nil {
		s.create = s.fields
	}
	if s.make == nil {
		s.make = s.makeOfWritable
	}
	s.api.viewed(s.view)
	s.api.related[s.listing] = s.showByID
	name, names := joined(s.noun), joined(s.nouns) // "APIKey", "APIKeys"
	one := s.path + "/{id}"
	fieldParams := []param{{Name: "fields", About: "Names of members, separated by commas: only these and `id` are answered, so that the schema of an answer requires no other."}}
	if s.expand != nil {
		fieldParams = append(fieldParams, param{Name: "expand", About: "Related records to answer too: " + s.expandable() + "."})
	}
	listed, forms := slices.Concat(pageParams, s.listParams(), fieldParams), []string(nil)
	if s.table != nil {
		listed, forms = append(listed, tableParam(s.table.columns)), export.MediaTypes(tableForms)
	}
	sentTypes := []string{"application/json"}
	for _, o := range []struct {
		key string
		rt  route
		h   handlerFunc
	}{
		{"list", route{Method: "GET", Path: s.path, ID: "list" + names, Summary: "List " + s.nouns, Scope: s.scope.read,
			Params: listed, Reply: s.api.listSchema(s.view), ReplyTypes: forms}, s.list},
		{"create", route{Method: "POST", Path: s.path, ID: "create" + name, Summary: "Create " + article(s.noun), About: s.about, Scope: s.scope.write,
			Body: s.create, Status: 201, Reply: s.view}, s.post},
		{"get", route{Method: "GET", Path: one, ID: "get" + name, Summary: "Get " + article(s.noun), Scope: s.scope.read,
			Params: append([]param{ifNoneMatchParam}, fieldParams...), Reply: s.view}, s.get},
		{"replace", route{Method: "PUT", Path: one, ID: "replace" + name, Summary: "Replace " + article(s.noun), Scope: s.scope.write,
			About:  "Replaces everything that callers write. Members that are read-only are ignored if unchanged, and refused otherwise; in a body that carries the present `revision`, those that change by themselves (a place, a charge) may differ.",
			Params: append([]param{ifMatchParam}, s.params.change...), Body: s.fields, BodyTypes: sentTypes, Reply: s.view}, s.put},
		{"patch", route{Method: "PATCH", Path: one, ID: "update" + name, Summary: "Change " + article(s.noun), Scope: s.scope.write,
			About:  "A merge patch (RFC 7396): null removes a member, objects merge, arrays are replaced whole.",
			Params: append([]param{ifMatchParam}, s.params.change...), Body: s.api.patchSchema(s.fields), BodyTypes: []string{"application/merge-patch+json", "application/json"}, Reply: s.view}, s.patch},
		{"archive", route{Method: "DELETE", Path: one, ID: "archive" + name, Summary: "Archive " + article(s.noun), Scope: s.scope.write,
			About:  "The record stays readable by its id, with `archived_at`, and is left out of lists.",
			Params: []param{ifMatchParam}, Status: 204}, s.archive},
		{"history", route{Method: "GET", Path: one + "/history", ID: "list" + name + "History", Summary: "List the revisions of a " + s.noun,
			About: "Newest first: when, by whom, and what changed.", Scope: s.scope.read, Params: pageParams, Reply: s.api.listSchema(Revision{})}, s.history},
	} {
		if !slices.Contains(without, o.key) {
			o.rt.Tag = s.tag
			s.api.handle(o.rt, o.h)
		}
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") && !strings.Contains(s.path, "{") {
		s.fixed = slices.Contains(without, "patch")
		s.api.transfers[strings.TrimPrefix(s.path, "/v1/")] = s
	}
	if !slices.Contains(without, "create") && !slices.Contains(without, "batch") {
		s.batchRoute(names)
	}
}

// expandable says what expand= may name, and with which scopes.
func (s *resource[T]) expandable() string {
	names := slices.Clone(s.expand)
	for i, name := range names {
		if scope, ok := s.scope.needs[name]; ok {
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

// article puts the article before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
