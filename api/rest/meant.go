package rest

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/sheet"
)

// mostNamed is how many names an error lists where none is like what was written.
const mostNamed = 30

// DidYouMean says what was probably meant by a name that is not there: the name that is most like it, or else which
// there are, if they are few. It is to be put behind "there is no …".
func DidYouMean(name string, names []string) string {
	if best := likest(name, names); best != "" {
		return "; did you mean " + best + "?"
	}
	if len(names) == 0 || len(names) > mostNamed {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// likest is the name that is like another: written otherwise (fixAt), with words more or less (reason, reason_code),
// or with a slip of the fingers in it; "" if none is.
func likest(name string, names []string) string {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	if len(plain(name)) < 3 || len(name) > 100 {
		return ""
	}
	for _, n := range names {
		if plain(n) == plain(name) {
			return n
		}
	}
	best, least := "", math.MaxInt
	for _, n := range names {
		longer, shorter := "_"+n+"_", "_"+name+"_"
		more := max(len(n)-len(name), len(name)-len(n))
		if more < least && (strings.Contains(longer, shorter) || strings.Contains(shorter, longer)) {
			best, least = n, more
		}
	}
	if best != "" {
		return best
	}
	least = len(plain(name))/4 + 1
	for _, n := range names {
		if d := fleet.LettersApart([]rune(plain(name)), []rune(plain(n))); d < least {
			best, least = n, d
		}
	}
	return best
}

// meantMember is meant for a member of what lies at a pointer of a document.
func meantMember(registry huma.Registry, schema *huma.Schema, pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	schema = sheet.Resolve(registry, schema)
	for _, part := range parts[:len(parts)-1] {
		schema = sheet.Inner(registry, schema, part)
	}
	if schema == nil {
		return ""
	}
	var names []string
	for name, member := range schema.Properties {
		if !member.ReadOnly {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return DidYouMean(parts[len(parts)-1], names)
}

// MembersOf are the names of the members of a struct, in their order.
func MembersOf(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// SignalNames are the names of the catalogue.
func SignalNames() []string {
	names := make([]string, len(fleet.Signals))
	for i := range fleet.Signals {
		names[i] = fleet.Signals[i].Name
	}
	return names
}
