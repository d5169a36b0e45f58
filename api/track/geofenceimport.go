package track

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// maxImport is how many geofences one import may bring.
const maxImport = 1000

// ImportResult says what became of one item.
type ImportResult struct {
	Index  int               `json:"index" doc:"Of the item in the request, from 0."`
	Status string            `json:"status" enum:"created,rejected"`
	ID     string            `json:"id,omitempty" doc:"Of the record that was made of it." example:"geo_1234"`
	Code   string            `json:"code,omitempty" doc:"Why it was rejected."`
	Detail string            `json:"detail,omitempty"`
	Errors []rest.FieldIssue `json:"errors,omitempty" nullable:"false" doc:"The members that are not acceptable, as for a single geofence."`
}

// ImportReply answers an import.
type ImportReply struct {
	Data     []ImportResult `json:"data" nullable:"false"`
	Created  int            `json:"created"`
	Rejected int            `json:"rejected"`
}

// featureCollection describes what an import takes.
type featureCollection struct {
	Type     string `json:"type" enum:"FeatureCollection"`
	Features []any  `json:"features" maxItems:"1000" nullable:"false"`
}

func (a *API) importRoutes(s *rest.Resource[record.Geofence]) {
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/geofences/import", ID: "importGeofences", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Create geofences from a file",
		About: "A GeoJSON FeatureCollection, or the list that a Traccar server gives at `/api/geofences`; at most 1,000 items and 5 MiB. " +
			"Polygons and MultiPolygons are taken as they are, a Point with the property `radius_m` is a circle, a LineString with `width_m` a corridor. " +
			"Properties that are members of a geofence become those, other texts and numbers its metadata. What the list of geofences exports comes back whole, as new records. " +
			"Each item is judged by itself; if none is acceptable the answer is a 422.",
		Body: &huma.Schema{OneOf: []*huma.Schema{
			a.Docs.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[featureCollection](), true, ""),
			{Type: "array", Items: a.Schema(traccarFence{}, "")},
		}}, BodyTypes: []string{"application/json", "application/geo+json"}, BodyLimit: a.Config.IngestLimit,
		Reply: ImportReply{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.importFences(w, r, s) })
}

// importItem is an item of an import on its way to be a record.
type importItem struct {
	object map[string]any // what a caller would write of it
	err    error
}

func (a *API) importFences(w http.ResponseWriter, r *http.Request, s *rest.Resource[record.Geofence]) error {
	items, err := a.importItems(rest.RequestBody(r))
	if err != nil {
		return err
	}
	if err := a.SpendItems(w, auth.From(r.Context()).Account, len(items)); err != nil {
		return err
	}
	reply := ImportReply{Data: make([]ImportResult, len(items))}
	var ids []uint64
	var bodies []record.Geofence
	var from []int // index of each body's item
	for i, item := range items {
		reply.Data[i] = ImportResult{Index: i, Status: "created"}
		var body record.Geofence
		err := item.err
		if err == nil {
			err = a.DecodeObject(item.object, &body.GeofenceFields)
		}
		if err == nil {
			err = s.Complete(r, 0, nil, &body)
		}
		if err != nil {
			if err := reply.Data[i].reject(err); err != nil {
				return err
			}
			continue
		}
		ids, bodies, from = append(ids, a.Store.NextIDOfMany()), append(bodies, body), append(from, i)
	}
	for n, err := range a.geofences.CreateMany(r.Context(), rest.Author(r), auth.From(r.Context()).Account, ids, bodies) {
		if err != nil {
			if err := reply.Data[from[n]].reject(err); err != nil {
				return err
			}
			continue
		}
		reply.Data[from[n]].ID = fleet.FormatID(fleet.FencePrefix, ids[n])
		reply.Created++
	}
	if reply.Rejected = len(items) - reply.Created; reply.Created == 0 {
		return rejectAll(reply)
	}
	return rest.WriteJSON(w, r, http.StatusOK, reply)
}

// reject notes why the item became nothing. What is no fault of the item is returned.
func (v *ImportResult) reject(err error) error {
	e, ok := errors.AsType[*fleet.Error](err)
	if !ok {
		return err
	}
	v.Status, v.Code, v.Detail = "rejected", string(e.Code), e.Message
	for _, f := range e.Fields {
		v.Errors = append(v.Errors, rest.FieldIssue(f))
	}
	return nil
}

// rejectAll is the answer to an import of which nothing was acceptable.
func rejectAll(reply ImportReply) error {
	var faults []fleet.FieldError
	for _, v := range reply.Data {
		pointer := "/features/" + strconv.Itoa(v.Index)
		if len(v.Errors) == 0 {
			faults = append(faults, fleet.FieldError{Pointer: pointer, Code: v.Code, Detail: v.Detail})
		}
		for _, f := range v.Errors {
			faults = append(faults, fleet.FieldError{Pointer: pointer + f.Pointer, Code: f.Code, Detail: f.Detail})
		}
	}
	return fleet.Invalid(faults...)
}

// importItems reads the items of either form.
func (a *API) importItems(text []byte) ([]importItem, error) {
	var items []importItem
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil {
		fences, err := readTraccarFences(text)
		if err != nil {
			return nil, err
		}
		for _, f := range fences {
			var item importItem
			item.object, item.err = f.fields()
			items = append(items, item)
		}
	} else {
		collection, err := rest.ParseObject(text)
		if err != nil {
			return nil, err
		}
		features, ok := collection["features"].([]any)
		if collection["type"] != "FeatureCollection" || !ok {
			return nil, fleet.Invalid(fleet.FieldError{Pointer: "/type", Code: "invalid",
				Detail: "must be a FeatureCollection with features, or a list of Traccar's geofences"})
		}
		for i, f := range features {
			var item importItem
			item.object, item.err = a.featureFields(f, i)
			items = append(items, item)
		}
	}
	if len(items) == 0 || len(items) > maxImport {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "/features", Code: "invalid",
			Detail: fmt.Sprintf("must be 1 to %d items", maxImport)})
	}
	return items, nil
}

// featureFields makes what a caller would write of a feature.
func (a *API) featureFields(v any, index int) (map[string]any, error) {
	feature, _ := v.(map[string]any)
	geometry, ok := feature["geometry"].(map[string]any)
	if !ok {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "/geometry", Code: "required", Detail: "is missing"})
	}
	properties, _ := feature["properties"].(map[string]any)
	object := map[string]any{"geometry": ownGeometry(geometry, properties)}
	registry := a.Docs.OpenAPI().Components.Schemas
	writable := registry.Schema(reflect.TypeFor[record.GeofenceFields](), false, "").Properties
	readOnly := registry.Schema(reflect.TypeFor[Geofence](), false, "").Properties
	metadata := map[string]any{}
	for name, value := range properties {
		switch {
		case value == nil || name == "geometry" || name == "radius_m" || name == "width_m":
		case writable[name] != nil:
			object[name] = value
		case readOnly[name] != nil:
		default:
			switch value.(type) {
			case string, float64, bool:
				metadata[name] = fmt.Sprint(value)
			}
		}
	}
	for _, name := range []string{"title", "Name", "NAME"} {
		if object["name"] == nil && properties[name] != nil {
			object["name"] = fmt.Sprint(properties[name])
			delete(metadata, name)
		}
	}
	if object["name"] == nil {
		object["name"] = "Geofence " + strconv.Itoa(index+1)
	}
	if object["metadata"] == nil && len(metadata) > 0 {
		object["metadata"] = metadata
	}
	return object, nil
}
