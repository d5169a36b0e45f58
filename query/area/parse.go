package area

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/motorpool/fleet"
)

// Limits of what may be drawn.
const (
	MaxVertices = 10_000
	MaxArea     = 1e12  // m²
	minArea     = 1e-6  // m²; less is a line
	MaxRadius   = 500e3 // m, of a circle
	MinWidth    = 1.0   // m, of a corridor
	MaxWidth    = 10e3  // m
	maxArc      = 10e6  // m, between two points of a corridor
	maxProblems = 20    // that one answer tells of
)

// Codes of the fields of a refusal.
const (
	codeType     = "unknown_type"
	codeFormat   = "invalid_format"
	codeRange    = "out_of_range"
	codeTooMany  = "too_many_vertices"
	codeTooLarge = "area_too_large"
	codeEmpty    = "no_area"
	codeShort    = "too_few_points"
	codeCrossing = "self_crossing"
	codePole     = "contains_pole"
	codeHole     = "hole_outside"
)

// Parse reads a shape, as the package comment writes it. Rings are closed and turned silently; other members than those
// shown are ignored, and so are altitudes. What cannot be a fence is refused with a *fleet.Error of CodeValidation
// whose fields name each problem by its JSON pointer within the geometry.
func Parse(geojson []byte) (Shape, error) {
	var ps problems
	g := ps.read(geojson)
	if len(ps.fields) > 0 {
		return Shape{}, fleet.NewError(fleet.CodeValidation,
			"The geometry cannot be used: "+ps.fields[0].Detail, ps.fields...)
	}
	return Shape{g}, nil
}

// problems collects what is wrong with a geometry.
type problems struct{ fields []fleet.FieldError }

func (ps *problems) add(pointer, code, format string, args ...any) {
	if len(ps.fields) < maxProblems {
		ps.fields = append(ps.fields, fleet.FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

func (ps *problems) read(text []byte) geometry {
	var in struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
		Center      json.RawMessage `json:"center"`
		Radius      json.RawMessage `json:"radius_m"`
		Width       json.RawMessage `json:"width_m"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		ps.add("", codeFormat, "It must be a JSON object with a type of Polygon, MultiPolygon, Circle or Corridor.")
		return nil
	}
	var g geometry
	limit := "/coordinates"
	switch in.Type {
	case "Polygon":
		var rings [][]json.RawMessage
		if ps.decode(in.Coordinates, &rings, "/coordinates", "a list of rings, each a list of positions") && ps.fits(rings) {
			if p, ok := ps.polygon(rings, "/coordinates"); ok {
				g = newPolygons([]polygon{p})
			}
		}
	case "MultiPolygon":
		var parts [][][]json.RawMessage
		if ps.decode(in.Coordinates, &parts, "/coordinates", "a list of polygons, each a list of rings") &&
			ps.fits(parts...) {
			g = ps.multi(parts)
		}
	case "Circle":
		limit = "/radius_m"
		place, ok := ps.position(in.Center, "/center")
		radius, given := ps.number(in.Radius, "/radius_m")
		if given && !(radius > 0 && radius <= MaxRadius) {
			ps.add("/radius_m", codeRange, "The radius must be above 0 and at most %.0f m.", MaxRadius)
			given = false
		}
		if ok && given {
			g = newCircle(place.y, place.x, radius)
		}
	case "Corridor":
		g = ps.corridor(in.Coordinates, in.Width)
	default:
		ps.add("/type", codeType, "The type must be Polygon, MultiPolygon, Circle or Corridor.")
	}
	if len(ps.fields) > 0 || g == nil {
		return nil
	}
	if size := g.area(); size > MaxArea {
		ps.add(limit, codeTooLarge, "It takes %.0f km²; at most %.0f km² are allowed.", size/1e6, MaxArea/1e6)
	}
	return g
}

func (ps *problems) decode(raw json.RawMessage, to any, pointer, want string) bool {
	switch {
	case len(raw) == 0:
		ps.add(pointer, codeFormat, "It must be given, as %s.", want)
	case json.Unmarshal(raw, to) != nil:
		ps.add(pointer, codeFormat, "It must be %s.", want)
	default:
		return true
	}
	return false
}

func (ps *problems) number(raw json.RawMessage, pointer string) (float64, bool) {
	var n *float64
	if !ps.decode(raw, &n, pointer, "a number") {
		return 0, false
	}
	if n == nil {
		ps.add(pointer, codeFormat, "It must be given, as a number.")
		return 0, false
	}
	return *n, true
}

// position reads [longitude, latitude], of which it ignores anything further.
func (ps *problems) position(raw json.RawMessage, pointer string) (point, bool) {
	var at []*float64
	if len(raw) == 0 || json.Unmarshal(raw, &at) != nil || len(at) < 2 || at[0] == nil || at[1] == nil {
		ps.add(pointer, codeFormat, "A position must be [longitude, latitude] in degrees.")
		return point{}, false
	}
	p := point{*at[0], *at[1]}
	if !(p.x >= -180 && p.x <= 180) {
		ps.add(pointer+"/0", codeRange, "The longitude %v is not between -180 and 180.", p.x)
		return p, false
	}
	if !(p.y >= -90 && p.y <= 90) {
		ps.add(pointer+"/1", codeRange,
			"The latitude %v is not between -90 and 90; positions are [longitude, latitude].", p.y)
		return p, false
	}
	return p, true
}

// fits counts the positions before any work is done on them.
func (ps *problems) fits(parts ...[][]json.RawMessage) bool {
	count := 0
	for _, rings := range parts {
		for _, r := range rings {
			count += len(r)
		}
	}
	if count > MaxVertices {
		ps.add("/coordinates", codeTooMany, "It has %d positions; at most %d are allowed.", count, MaxVertices)
	}
	return count <= MaxVertices
}

func (ps *problems) multi(parts [][][]json.RawMessage) geometry {
	if len(parts) == 0 {
		ps.add("/coordinates", codeShort, "It must have at least one polygon.")
		return nil
	}
	var all []polygon
	for i, rings := range parts {
		if p, ok := ps.polygon(rings, "/coordinates/"+strconv.Itoa(i)); ok {
			all = append(all, p)
		}
	}
	if len(all) < len(parts) {
		return nil
	}
	return newPolygons(all)
}

func (ps *problems) polygon(rings [][]json.RawMessage, pointer string) (p polygon, ok bool) {
	if len(rings) == 0 {
		ps.add(pointer, codeShort, "A polygon must have a ring around it.")
		return p, false
	}
	all := true
	for i, raw := range rings {
		r := ps.ring(raw, pointer+"/"+strconv.Itoa(i))
		switch {
		case r == nil:
			all = false
		case i == 0:
			p.shell = *r
		default:
			p.holes = append(p.holes, *r)
		}
	}
	if !all {
		return p, false
	}
	ok = true
	for i := range p.holes {
		p.holes[i] = under(p.holes[i], &p.shell)
		ok = ps.inside(p, i, pointer) && ok
	}
	if ok && p.area() < minArea {
		ps.add(pointer, codeEmpty, "The polygon has no area.")
		ok = false
	}
	return p, ok
}

// ring reads one ring: closed, without repeated points, and without jumps of longitude.
func (ps *problems) ring(raw []json.RawMessage, pointer string) *ring {
	var pts []point
	var source []int // where each point stands in the input
	bad := false
	for i, r := range raw {
		p, ok := ps.position(r, pointer+"/"+strconv.Itoa(i))
		if ok && math.Abs(p.y) == 90 {
			ps.add(pointer+"/"+strconv.Itoa(i), codePole, "A polygon must not touch a pole; draw a circle around it.")
			ok = false
		}
		if !ok {
			bad = true
			continue
		}
		if n := len(pts); n > 0 {
			for p.x-pts[n-1].x > 180 {
				p.x -= 360
			}
			for p.x-pts[n-1].x < -180 {
				p.x += 360
			}
			if p == pts[n-1] {
				continue
			}
		}
		pts, source = append(pts, p), append(source, i)
	}
	if bad {
		return nil
	}
	turned := 0.0
	if n := len(pts); n > 1 {
		switch last := pts[n-1]; {
		case last == pts[0]:
			pts = pts[:n-1]
		case last.y == pts[0].y && math.Abs(last.x-pts[0].x) == 360:
			turned = 360
		default:
			if step := last.x - pts[0].x; step > 180 || step < -180 {
				turned = 360
			}
		}
	}
	if turned != 0 {
		ps.add(pointer, codePole, "The ring goes all the way round the earth and so around a pole; draw a circle instead.")
		return nil
	}
	if len(pts) < 3 {
		ps.add(pointer, codeShort, "A ring must have at least three different positions.")
		return nil
	}
	r := newRing(append(pts, pts[0]))
	if r.box.maxX-r.box.minX > 360 {
		ps.add(pointer, codePole, "The ring goes more than once around the earth.")
		return nil
	}
	if i, j, crossed := r.crossing(); crossed {
		end := func(i int) int { return source[(i+1)%len(source[:len(pts)])] }
		ps.add(pointer, codeCrossing,
			"The ring crosses itself: the segment from position %d to %d meets the one from %d to %d.",
			source[i], end(i), source[j], end(j))
		return nil
	}
	if r.area()*fleet.EarthRadius*fleet.EarthRadius < minArea {
		ps.add(pointer, codeEmpty, "The ring has no area.")
		return nil
	}
	return r
}

func (ps *problems) corridor(coordinates, widthText json.RawMessage) geometry {
	width, given := ps.number(widthText, "/width_m")
	if given && !(width >= MinWidth && width <= MaxWidth) {
		ps.add("/width_m", codeRange, "The width must be from %.0f to %.0f m.", MinWidth, MaxWidth)
		given = false
	}
	var raw []json.RawMessage
	if !ps.decode(coordinates, &raw, "/coordinates", "a list of positions") || !ps.fits([][]json.RawMessage{raw}) {
		return nil
	}
	var places []fleet.Place
	ok := true
	for i, r := range raw {
		pointer := "/coordinates/" + strconv.Itoa(i)
		p, fine := ps.position(r, pointer)
		if !fine {
			ok = false
			continue
		}
		place := fleet.Place{Lat: p.y, Lng: p.x}
		if n := len(places); n > 0 {
			step := toVec(places[n-1].Lat, places[n-1].Lng).metres(toVec(place.Lat, place.Lng))
			if step < 1e-3 {
				continue // the same place again, perhaps across the antimeridian
			}
			if step > maxArc {
				ps.add(pointer, codeRange, "It is %.0f km from the position before it; at most %.0f km are allowed.",
					step/1e3, maxArc/1e3)
				ok = false
			}
		}
		places = append(places, place)
	}
	if !ok || !given {
		return nil
	}
	if len(places) < 2 {
		ps.add("/coordinates", codeShort, "The line of a corridor must have at least two different positions.")
		return nil
	}
	return newCorridor(slices.Clip(places), width)
}

// under moves a hole by whole turns so that it lies within the longitudes of its shell, if it can.
func under(hole ring, shell *ring) ring {
	for _, shift := range turns {
		if b := hole.box; b.minX+shift >= shell.box.minX && b.maxX+shift <= shell.box.maxX {
			if shift == 0 {
				return hole
			}
			pts := slices.Clone(hole.pts)
			for i := range pts {
				pts[i].x += shift
			}
			return *newRing(pts)
		}
	}
	return hole
}

// inside checks that a hole lies in its shell and out of the holes before it; rings may touch in points.
func (ps *problems) inside(p polygon, i int, pointer string) bool {
	hole, at := &p.holes[i], pointer+"/"+strconv.Itoa(i+1)
	if e, f, crossed := hole.crosses(&p.shell); crossed {
		ps.add(at, codeHole, "The hole crosses the ring around it: its segment %d meets segment %d of the ring.", e, f)
		return false
	}
	if !hole.lies(&p.shell, inner) {
		ps.add(at, codeHole, "The hole lies outside the ring around it.")
		return false
	}
	for j := range p.holes[:i] {
		other := &p.holes[j]
		if !hole.box.overlaps(other.box) {
			continue
		}
		if e, f, crossed := hole.crosses(other); crossed {
			ps.add(at, codeHole, "The hole crosses hole %d: its segment %d meets segment %d of that.", j+1, e, f)
			return false
		}
		if !hole.lies(other, outer) || !other.lies(hole, outer) {
			ps.add(at, codeHole, "The hole and hole %d lie one in the other.", j+1)
			return false
		}
	}
	return true
}
