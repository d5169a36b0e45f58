package eventview

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/sheet"
)

// componentPath is how schemas refer to each other in the OpenAPI document.
const componentPath = "#/components/schemas/"

// Catalogue describes the events of every type, by the Go types that are shown. Nobody changes it.
type Catalogue struct {
	registry huma.Registry
	types    map[string]*huma.Schema
}

// kindsOf are the kinds of what events of derived things and of the account are about, by how their types begin. Types
// of records go before.
var kindsOf = []struct {
	prefix string
	kind   fleet.Kind
}{
	{"vehicle.trip.", fleet.KindTrip}, {"vehicle.stop.", fleet.KindStop},
	{"vehicle.charging_session.", fleet.KindCharging}, {"vehicle.driving_event.", fleet.KindDriving},
	{"vehicle.route_run.", fleet.KindRun}, {"geofence.", fleet.KindVisit}, {"alert.", fleet.KindAlert},
	{fleet.EventLocationUpdated, fleet.KindPosition}, {fleet.EventBooksDrift, "books"},
	{"webhook_endpoint.", "webhook_endpoint"},
}

// Catalogue describes what r shows. Open schemas, which are those for everybody, let objects have members that they do
// not name, because such may be added at any time.
func (r *Renderer) Catalogue(open bool) *Catalogue {
	// What is stored and what is shown may have types of one name, and of what is stored something is left out.
	stored, shown := registry("Stored"), registry("Told")
	objects := map[fleet.Kind]*huma.Schema{}
	for _, b := range event.Bodies {
		objects[fleet.Kind(b.Kind)] = storedObject(stored, b)
	}
	for _, s := range stored.Map() {
		takeOut(s)
		mayBeUnsaid(s)
	}
	for kind, view := range r.derived {
		objects[kind] = derivedObject(shown, view)
	}
	envelope := shown.Schema(reflect.TypeFor[Event](), false, "")
	c := &Catalogue{registry: huma.NewMapRegistry(componentPath, huma.DefaultSchemaNamer),
		types: map[string]*huma.Schema{}}
	all := c.registry.Map()
	for _, from := range []huma.Registry{stored, shown} {
		for name, s := range from.Map() {
			sheet.AllowNulls(from.TypeFromRef(componentPath+name), s)
			numbersAsText(from.TypeFromRef(componentPath+name), s)
			all[name] = s
		}
	}
	delete(all, "ToldEvent")
	delete(all, "ToldData")
	for kind, s := range objects {
		all[objectName(kind)] = s
	}
	all["ThinObject"] = thinObject()
	for _, s := range all {
		finish(s, open)
	}
	for _, t := range slices.Concat([]string{fleet.EventLocationUpdated}, fleet.EventTypes) {
		c.types[t] = eventSchema(envelope, t, objects[kindOf(t)] != nil)
	}
	return c
}

func registry(prefix string) huma.Registry {
	r := huma.NewMapRegistry(componentPath, func(t reflect.Type, hint string) string {
		return prefix + huma.DefaultSchemaNamer(t, hint)
	})
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[*time.Time]())
	return r
}

// kindOf is the kind of what events of a type are about.
func kindOf(eventType string) fleet.Kind {
	for _, r := range fleet.EventsOfRecords {
		if slices.Contains(r.Types, eventType) {
			return fleet.Kind(r.Kind)
		}
	}
	for _, k := range kindsOf {
		if strings.HasPrefix(eventType, k.prefix) {
			return k.kind
		}
	}
	return ""
}

// objectName is the name of the schema of what events of a kind are about: "EventObjectWorkOrder".
func objectName(kind fleet.Kind) string {
	name := "EventObject"
	for word := range strings.SplitSeq(string(kind), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// copied is a schema whose members can be changed without changing it.
func copied(s *huma.Schema) *huma.Schema {
	again := *s
	again.Properties, again.Required = maps.Clone(s.Properties), slices.Clone(s.Required)
	if again.Properties == nil {
		again.Properties = map[string]*huma.Schema{}
	}
	return &again
}

// storedObject describes a record as its events tell of it.
func storedObject(registry huma.Registry, b event.Body) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	if b.Type.NumField() > 0 {
		s = copied(registry.Schema(b.Type, false, ""))
		sheet.AllowNulls(b.Type, s)
		numbersAsText(b.Type, s)
	}
	takeOut(s)
	mayBeUnsaid(s)
	s.Description = ""
	s.Properties["id"] = &huma.Schema{Type: huma.TypeString, Examples: []any{b.Prefix + "1234"}}
	s.Properties["object"] = &huma.Schema{Type: huma.TypeString, Enum: []any{b.Kind}}
	s.Properties["revision"] = &huma.Schema{Type: huma.TypeInteger}
	s.Required = append(s.Required, "id", "object", "revision")
	return s
}

// numbersAsText describes members that are numbers and are written as text.
func numbersAsText(t reflect.Type, s *huma.Schema) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p := s.Properties[member]; p != nil && strings.Contains(options, "string") {
			s.Properties[member] = &huma.Schema{Type: huma.TypeString, Description: p.Description}
		}
	}
}

// takeOut takes out of a schema what events leave out.
func takeOut(s *huma.Schema) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		if event.TakesOut(name) {
			delete(s.Properties, name)
			s.Required = slices.DeleteFunc(s.Required, func(required string) bool { return required == name })
			continue
		}
		takeOut(p)
	}
	for _, inner := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, []*huma.Schema{s.Items}) {
		takeOut(inner)
	}
}

// mayBeUnsaid lets members that are always stored, and have certain values, be empty, and lists be null: nothing was
// said of them.
func mayBeUnsaid(s *huma.Schema) {
	for _, p := range s.Properties {
		p.Nullable = p.Nullable || p.Type == huma.TypeArray
	}
	for _, name := range s.Required {
		if p := s.Properties[name]; p.Type == huma.TypeString && p.Enum != nil {
			p.Enum = append(slices.Clone(p.Enum), "")
		}
	}
}

// derivedObject describes a derived thing as its events tell of it.
func derivedObject(registry huma.Registry, v View) *huma.Schema {
	t := reflect.TypeOf(v.Of)
	s := copied(registry.Schema(t, false, ""))
	sheet.AllowNulls(t, s)
	for _, name := range LookedUp {
		delete(s.Properties, name)
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return slices.Contains(LookedUp, name) })
	return s
}

// thinObject describes what endpoints are told that want to read the rest themselves.
func thinObject() *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	return &huma.Schema{Type: huma.TypeObject, Description: "What it is, and where it is read.",
		Properties: map[string]*huma.Schema{"id": text, "object": text, "revision": {Type: huma.TypeInteger},
			"url": {Type: huma.TypeString, Nullable: true, Examples: []any{"/v1/vehicles/veh_1234"}}},
		Required: []string{"id", "object", "url"}, AdditionalProperties: false}
}

// finish makes of a schema of what callers write one of what they are told: what may be null and has certain values has
// null among them, bounds of what may be written are not told, and it is open if it shall be.
func finish(s *huma.Schema, open bool) {
	if s == nil {
		return
	}
	if additional, ok := s.AdditionalProperties.(bool); ok && !additional && open {
		s.AdditionalProperties = nil
	}
	if s.Nullable && s.Enum != nil && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems, s.MinProperties, s.Pattern = nil, nil, nil, nil, nil, ""
	for _, p := range s.Properties {
		finish(p, open)
	}
	inner, _ := s.AdditionalProperties.(*huma.Schema)
	for _, p := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, []*huma.Schema{s.Items, inner}) {
		finish(p, open)
	}
}

// eventSchema is the envelope of a type.
func eventSchema(envelope *huma.Schema, eventType string, known bool) *huma.Schema {
	s := copied(envelope)
	s.AdditionalProperties = nil
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{eventType}}
	s.Properties["api_version"] = &huma.Schema{Type: huma.TypeString, Enum: []any{Version}}
	object := &huma.Schema{AnyOf: []*huma.Schema{{Ref: componentPath + objectName(kindOf(eventType))},
		{Ref: componentPath + "ThinObject"}}}
	if !known { // a kind that somebody else has added
		object = &huma.Schema{Type: huma.TypeObject}
	}
	s.Properties["data"] = &huma.Schema{Type: huma.TypeObject, Required: []string{"object"},
		Properties: map[string]*huma.Schema{"object": object, event.PreviousAttributes: {Type: huma.TypeObject,
			AdditionalProperties: true,
			Description:          "Of a record that was changed: what its members were that are others now; null if there was none."}}}
	return s
}

// Components are the schemas to which those of the types refer, by their names in the OpenAPI document.
func (c *Catalogue) Components() map[string]*huma.Schema { return c.registry.Map() }

// Of is the schema of the events of a type, which refers to components; nil if there is no such type.
func (c *Catalogue) Of(eventType string) *huma.Schema { return c.types[eventType] }

// Example is an event of a type, which fits its schema, as a JSON object.
func (c *Catalogue) Example(eventType string) map[string]any {
	made, _ := sheet.Example(c.registry, c.types[eventType]).(map[string]any)
	return made
}
