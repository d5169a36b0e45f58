// Package area is the geometry of named and searched areas: what may be drawn, what is in it, and which H3 cells it
// takes. It is pure: no store, no clock, no goroutine; a Shape is immutable and safe for concurrent use.
//
// There are four shapes, read by Parse from JSON:
//
//	{"type":"Polygon","coordinates":[shell, hole, …]}         RFC 7946, positions are [longitude, latitude]
//	{"type":"MultiPolygon","coordinates":[polygon, …]}        RFC 7946; the union of its polygons
//	{"type":"Circle","center":[lng,lat],"radius_m":250}       everything within the radius
//	{"type":"Corridor","coordinates":[[lng,lat],…],"width_m":60}  everything within half the width of a line
//
// What is in a shape is decided exactly, by these rules:
//
//   - The edges of polygons are straight in longitude and latitude, as GeoJSON and H3 have them. An edge goes the
//     shorter way round: one that spans more than 180 degrees crosses the antimeridian. Points on an edge, also of a
//     hole, are in (what shapely calls covers), so two areas that share an edge both hold the points on it. The
//     decision is made with exact arithmetic where floating point cannot tell.
//   - A circle holds what is not farther than its radius by fleet.Distance; it may hold a pole.
//   - The line of a corridor is made of great-circle arcs, its ends are round, and the distance to it is the
//     great-circle distance to the nearest of its points.
//
// Compact gives H3 cells such that a place whose cell is not among them is not in the shape, and one whose cell
// is an interior one is; only boundary cells need the exact test.
package area

import (
	"math"

	"github.com/motorpool/fleet"
)

// Shape is an area on the ground. The zero value holds nothing. Make one with Parse.
type Shape struct {
	g geometry
}

// geometry is what each kind of shape can do; angles are degrees, lengths metres.
type geometry interface {
	contains(lat, lng float64) bool
	outside(lat, lng, margin float64) bool
	crosses(w *Way) (enter, exit float64, ok bool)
	misses(w *Way) bool
	relate(c *cell) relation
	bounds() Bounds
	area() float64
	vertices() int
	seeds() []fleet.Place // a place of each connected part
}

// Bounds is a box of latitudes and longitudes. West may be greater than East: then the box crosses the antimeridian. A
// box with West -180 and East 180 goes all the way round.
type Bounds struct {
	South, West, North, East float64
}

// Contains says whether a place, in degrees, is in the shape, by the rules of the package comment. Nothing holds a
// place that is not finite.
func (s Shape) Contains(lat, lng float64) bool { return s.g != nil && s.g.contains(lat, lng) }

// Outside says whether a place is out of the shape by more than margin metres. The distance to a polygon is measured on
// the plane that touches the place, which is right to a thousandth within ten kilometres; the others are exact.
func (s Shape) Outside(lat, lng, margin float64) bool {
	return s.g == nil || s.g.outside(lat, lng, margin)
}

// Crosses says which part of the way between two places, less than 180 degrees of longitude apart, is in the shape:
// from the fraction enter of the way (0 is the first place) to the fraction exit, of the first and last point in it. It
// is not ok if none is. The way is straight in longitude and latitude for polygons, and a great circle for the others;
// over the distances between two fixes the difference is metres.
func (s Shape) Crosses(lat1, lng1, lat2, lng2 float64) (enter, exit float64, ok bool) {
	if s.g == nil {
		return 0, 0, false
	}
	w := NewWay(lat1, lng1, lat2, lng2)
	return s.g.crosses(&w)
}

// Passes is Crosses for a way that begins and ends outside: it is ok only if the way enters after the first place and
// has left before the second. Most ways past a shape are told from those through it without computing where they enter.
func (s Shape) Passes(w *Way) (enter, exit float64, ok bool) {
	if s.g == nil || s.g.misses(w) {
		return 0, 0, false
	}
	enter, exit, ok = s.g.crosses(w)
	if !ok || enter <= 0 || exit >= 1 || enter >= exit {
		return 0, 0, false
	}
	return enter, exit, true
}

// Bounds returns the smallest box that is known to hold the shape.
func (s Shape) Bounds() Bounds {
	if s.g == nil {
		return Bounds{}
	}
	return s.g.bounds()
}

// Area returns the area in square metres on the sphere of fleet.EarthRadius. The parts of a multipolygon, and for a
// corridor its arcs, are added up whether or not they overlap.
func (s Shape) Area() float64 {
	if s.g == nil {
		return 0
	}
	return s.g.area()
}

// Vertices returns of how many places the shape is drawn.
func (s Shape) Vertices() int {
	if s.g == nil {
		return 0
	}
	return s.g.vertices()
}

// Contains says whether a place is in the box, its edge included.
func (b Bounds) Contains(lat, lng float64) bool {
	if lat < b.South || lat > b.North {
		return false
	}
	if b.West <= b.East {
		return lng >= b.West && lng <= b.East
	}
	return lng >= b.West || lng <= b.East
}

// Overlaps says whether two boxes have a place in common.
func (b Bounds) Overlaps(o Bounds) bool {
	if b.North < o.South || o.North < b.South {
		return false
	}
	// Two arcs of a circle meet if one begins within the other.
	within := func(lng, west, east float64) bool {
		if west <= east {
			return lng >= west && lng <= east
		}
		return lng >= west || lng <= east
	}
	return within(o.West, b.West, b.East) || within(b.West, o.West, o.East)
}

// wrapped is a box whose longitudes run from west to east without a jump, brought back to [-180, 180].
func wrapped(south, west, north, east float64) Bounds {
	if east-west >= 360 {
		return Bounds{south, -180, north, 180}
	}
	return Bounds{south, wrap(west), north, wrap(east)}
}

// wrap brings a longitude less than a turn outside into [-180, 180].
func wrap(lng float64) float64 {
	if lng > 180 {
		return lng - 360
	}
	if lng < -180 {
		return lng + 360
	}
	return lng
}

// metresPerDegree of latitude.
const metresPerDegree = fleet.EarthRadius * math.Pi / 180

const radians = math.Pi / 180
