package area

import "math"

// Way is the way between two places, made ready once for many shapes. Make one with NewWay; it serves one caller.
type Way struct {
	lat1, lng1, lat2, lng2 float64
	a, b                   point // in longitudes without a jump
	box                    box   // around them

	circle bool // whether what follows, of the great circle, has been made
	long   bool // whether the places are neither the same nor opposite, so that there is one
	from   vec
	to     vec
	side   vec // at a right angle from the first place, in the direction of the way
	normal vec // of the plane
	middle vec
	end    float64 // angle between the places
}

// rounding is far more than is lost in a product of two unit vectors.
const rounding = 1e-12

// NewWay returns the way between two places, less than 180 degrees of longitude apart.
func NewWay(lat1, lng1, lat2, lng2 float64) Way {
	w := Way{lat1: lat1, lng1: lng1, lat2: lat2, lng2: lng2, a: point{lng1, lat1}, b: point{lng2, lat2}}
	if w.b.x-w.a.x > 180 {
		w.b.x -= 360
	} else if w.b.x-w.a.x < -180 {
		w.b.x += 360
	}
	w.box = noBox.add(w.a).add(w.b)
	return w
}

// round makes the great circle, which polygons do not need, and says whether there is one.
func (w *Way) round() bool {
	if w.circle {
		return w.long
	}
	w.circle = true
	w.from, w.to = toVec(w.lat1, w.lng1), toVec(w.lat2, w.lng2)
	w.end = 2 * math.Asin(min(1, w.from.minus(w.to).length()/2))
	if w.end == 0 || w.end > 3.14 {
		return false
	}
	s := newArc(w.from, w.to)
	w.long, w.side, w.normal = true, s.fromA, s.normal
	w.middle = w.from.plus(w.to).unit()
	return true
}

// turned returns the two places moved by some longitudes, and turnedBox the box around them.
func (w *Way) turned(shift float64) (a, b point) {
	return point{w.a.x + shift, w.a.y}, point{w.b.x + shift, w.b.y}
}

func (w *Way) turnedBox(shift float64) box {
	return box{w.box.minX + shift, w.box.minY, w.box.maxX + shift, w.box.maxY}
}

func (w *Way) at(theta float64) vec {
	sin, cos := math.Sincos(theta)
	return w.from.times(cos).plus(w.side.times(sin))
}

// reaches calls found with the angles, between the two places, at which the dot product with v is level.
func (w *Way) reaches(v vec, level float64, found func(theta float64)) {
	a, b := w.from.dot(v), w.side.dot(v)
	size := math.Hypot(a, b)
	if size < math.Abs(level) || size == 0 {
		return
	}
	top, off := math.Atan2(b, a), math.Acos(level/size)
	for _, theta := range [...]float64{top - off, top + off} {
		for _, turn := range [...]float64{-2 * math.Pi, 0, 2 * math.Pi} {
			if t := theta + turn; t >= 0 && t <= w.end {
				found(t)
			}
		}
	}
}
