package area

import (
	"math"

	"github.com/motorpool/fleet"
)

// vec is a direction from the middle of the earth; places are unit vectors.
type vec struct{ x, y, z float64 }

func toVec(lat, lng float64) vec {
	sinLat, cosLat := math.Sincos(lat * radians)
	sinLng, cosLng := math.Sincos(lng * radians)
	return vec{cosLat * cosLng, cosLat * sinLng, sinLat}
}

func (a vec) place() (lat, lng float64) {
	return math.Atan2(a.z, math.Hypot(a.x, a.y)) / radians, math.Atan2(a.y, a.x) / radians
}

func (a vec) dot(b vec) float64 { return a.x*b.x + a.y*b.y + a.z*b.z }

func (a vec) cross(b vec) vec {
	return vec{a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x}
}

func (a vec) plus(b vec) vec      { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) minus(b vec) vec     { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) times(f float64) vec { return vec{a.x * f, a.y * f, a.z * f} }
func (a vec) length() float64     { return math.Sqrt(a.dot(a)) }
func (a vec) unit() vec           { return a.times(1 / a.length()) }
func (a vec) metres(b vec) float64 {
	return 2 * fleet.EarthRadius * math.Asin(min(1, a.minus(b).length()/2))
}
func (a vec) finite() bool           { return a.dot(a) < 2 }
func angle(metres float64) float64   { return metres / fleet.EarthRadius }
func chordOf(metres float64) float64 { return 2 * math.Sin(min(angle(metres), math.Pi)/2) }

// disc is how large a round part of the sphere is, in what keeps its digits however small it is.
type disc struct {
	chord2 float64 // from the middle to the edge, squared
	sin    float64 // of the radius as an angle
}

func newDisc(metres float64) disc {
	half := math.Sin(angle(metres) / 2)
	return disc{chord2: 4 * half * half, sin: math.Sin(angle(metres))}
}

// arc is the shorter great-circle arc between two places that are neither the same nor opposite.
type arc struct {
	a, b   vec
	normal vec // of the plane of the great circle, a unit vector
	fromA  vec // points along the arc at a, and
	fromB  vec // back along it at b: a place is beside the arc if it is in front of both
}

func newArc(a, b vec) arc {
	// The cross product of two close vectors by their difference and sum keeps its digits.
	n := b.minus(a).cross(b.plus(a)).unit().times(-1)
	return arc{a: a, b: b, normal: n, fromA: n.cross(a), fromB: b.cross(n)}
}

// metres returns the distance of a place from the arc.
func (s *arc) metres(p vec) float64 {
	if p.dot(s.fromA) >= 0 && p.dot(s.fromB) >= 0 {
		return fleet.EarthRadius * math.Asin(min(1, math.Abs(p.dot(s.normal))))
	}
	return min(p.metres(s.a), p.metres(s.b))
}

// meets says whether two arcs cross.
func (s *arc) meets(o *arc) bool {
	x := s.normal.cross(o.normal)
	on := func(v vec) bool {
		return v.dot(s.fromA) >= 0 && v.dot(s.fromB) >= 0 && v.dot(o.fromA) >= 0 && v.dot(o.fromB) >= 0
	}
	return on(x) || on(x.times(-1))
}
