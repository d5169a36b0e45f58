package track

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// traccarFence is a geofence as Traccar's GET /api/geofences gives it.
type traccarFence struct {
	_ struct{} `additionalProperties:"true"`

	ID          int64          `json:"id,omitempty"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Area        string         `json:"area" doc:"CIRCLE, POLYGON or LINESTRING in Traccar's form of WKT, latitude first."`
	Attributes  map[string]any `json:"attributes,omitempty"`
}

// traccarWidth is the width in metres of a corridor that says nothing of it: Traccar takes 25 m to each side.
const traccarWidth = 50

// fields makes what a caller would write of the geofence. Its number in Traccar becomes an external reference.
func (f *traccarFence) fields() (map[string]any, error) {
	geometry, err := traccarArea(f.Area)
	if err != nil {
		return nil, err
	}
	number := func(name string) (float64, bool) {
		v, ok := f.Attributes[name].(float64)
		return v, ok && v > 0
	}
	if geometry.Type == "Corridor" {
		width := float64(traccarWidth)
		if half, ok := number("polylineDistance"); ok {
			width = 2 * half
		}
		geometry.WidthM = &width
	}
	shape, err := rest.Members(geometry)
	if err != nil {
		return nil, err
	}
	object := map[string]any{"name": f.Name, "geometry": shape}
	if f.Description != "" {
		object["description"] = f.Description
	}
	if f.ID != 0 {
		object["external_refs"] = []any{map[string]any{"system": "traccar", "id": strconv.FormatInt(f.ID, 10)}}
	}
	if color, ok := f.Attributes["color"].(string); ok {
		object["color"] = color
	}
	if knots, ok := number("speedLimit"); ok {
		object["speed_limit_mph"] = knots * fleet.MetresPerKnot / fleet.MetresPerMph
	}
	return object, nil
}

// traccarArea reads the text form of Traccar's geofences: CIRCLE (lat lon, radius in m), POLYGON ((lat lon, ...)) with
// one ring, LINESTRING (lat lon, ...). Latitude comes first, unlike in WKT.
func traccarArea(text string) (record.Geometry, error) {
	g := record.Geometry{}
	name, inner, ok := strings.Cut(strings.TrimSpace(text), "(")
	inner, closed := strings.CutSuffix(strings.TrimSpace(inner), ")")
	malformed := fleet.FieldError{Pointer: "/area", Code: "invalid",
		Detail: "is not CIRCLE (lat lon, radius), POLYGON ((lat lon, ...)) or LINESTRING (lat lon, ...)"}
	if !ok || !closed {
		return g, fleet.Invalid(malformed)
	}
	var places []any
	var circle []string
	switch strings.ToUpper(strings.TrimSpace(name)) {
	case "CIRCLE":
		g.Type = "Circle"
		if circle = strings.Split(inner, ","); len(circle) != 2 {
			return g, fleet.Invalid(malformed)
		}
		inner = circle[0]
	case "POLYGON":
		g.Type = "Polygon"
		inner = strings.TrimSpace(inner)
		ring, opened := strings.CutPrefix(inner, "(")
		if ring, closed = strings.CutSuffix(ring, ")"); !opened || !closed || strings.ContainsAny(ring, "()") {
			return g, fleet.Invalid(malformed)
		}
		inner = ring
	case "LINESTRING":
		g.Type = "Corridor"
	default:
		return g, fleet.Invalid(malformed)
	}
	for _, pair := range strings.Split(inner, ",") {
		var lat, lng float64
		if n, err := fmt.Sscan(pair, &lat, &lng); err != nil || n != 2 {
			return g, fleet.Invalid(malformed)
		}
		places = append(places, []any{lng, lat})
	}
	switch g.Type {
	case "Circle":
		radius, err := strconv.ParseFloat(strings.TrimSpace(circle[1]), 64)
		if err != nil {
			return g, fleet.Invalid(malformed)
		}
		place := places[0].([]any)
		g.Center, g.RadiusM = []float64{place[0].(float64), place[1].(float64)}, &radius
	case "Polygon":
		if first, last := fmt.Sprint(places[0]), fmt.Sprint(places[len(places)-1]); first != last {
			places = append(places, places[0]) // Traccar leaves rings open
		}
		g.Coordinates = []any{places}
	default:
		g.Coordinates = places
	}
	return g, nil
}

// readTraccarFences reads a list of Traccar's geofences.
func readTraccarFences(text []byte) ([]traccarFence, error) {
	var fences []traccarFence
	if err := json.Unmarshal(text, &fences); err != nil {
		return nil, rest.BadJSON(err)
	}
	return fences, nil
}
