package track

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query/area"
)

// JudgeGeometry tidies the geometry of a geofence and works out what follows from it. What is wrong with it is returned
// by members.
func JudgeGeometry(g *record.Geofence) ([]fleet.FieldError, error) {
	g.Geometry.Tidy()
	text, err := json.Marshal(g.Geometry)
	if err != nil {
		return nil, fmt.Errorf("encode geometry: %w", err)
	}
	shape, err := area.Parse(text)
	if err != nil {
		return geometryFaults(err), nil
	}
	b := shape.Bounds()
	g.Bounds = &record.Bounds{South: b.South, West: b.West, North: b.North, East: b.East}
	g.AreaM2, g.Vertices = *rest.RoundedOrNull(shape.Area(), 1), shape.Vertices()
	return nil, nil
}

// geometryFaults puts what area.Parse says of a geometry in its place within a geofence.
func geometryFaults(err error) []fleet.FieldError {
	e, ok := errors.AsType[*fleet.Error](err)
	if !ok || len(e.Fields) == 0 {
		return []fleet.FieldError{{Pointer: "/geometry", Code: "invalid", Detail: err.Error()}}
	}
	faults := make([]fleet.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		faults[i] = fleet.FieldError{Pointer: "/geometry" + f.Pointer, Code: f.Code, Detail: f.Detail}
	}
	return faults
}

// standardGeometry writes a geometry in standard GeoJSON: a circle becomes a Point and a corridor a LineString, whose
// size stands in the properties of their feature.
func standardGeometry(g record.Geometry, properties map[string]any) map[string]any {
	switch g.Type {
	case "Circle":
		properties["radius_m"] = g.RadiusM
		return map[string]any{"type": "Point", "coordinates": g.Center}
	case "Corridor":
		properties["width_m"] = g.WidthM
		return map[string]any{"type": "LineString", "coordinates": g.Coordinates}
	}
	return map[string]any{"type": g.Type, "coordinates": g.Coordinates}
}

// ownGeometry undoes standardGeometry; it takes our own types too. Members that we do not know (bbox,
// crs) are left out.
func ownGeometry(geometry, properties map[string]any) map[string]any {
	own := map[string]any{}
	for _, name := range []string{"type", "coordinates", "center", "radius_m", "width_m"} {
		if v, ok := geometry[name]; ok {
			own[name] = v
		}
	}
	size := func(name, short string) {
		for _, key := range []string{name, short} {
			if v, ok := properties[key]; ok && own[name] == nil {
				own[name] = v
			}
		}
	}
	switch own["type"] {
	case "Point":
		own["type"], own["center"] = "Circle", own["coordinates"]
		delete(own, "coordinates")
		size("radius_m", "radius")
		if place, ok := own["center"].([]any); ok && len(place) == 3 {
			own["center"] = place[:2] // with an altitude
		}
	case "LineString":
		own["type"] = "Corridor"
		size("width_m", "width")
	}
	return own
}
