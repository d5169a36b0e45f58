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
	back   vec // and from the second, back along it
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
	w.long, w.side, w.back, w.normal = true, s.fromA, s.fromB, s.normal
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

// A place on the way, at an angle θ from its beginning, is from·cos θ + side·sin θ, so that a product with it is one of
// two numbers: a·cos θ + b·sin θ. That this is some level is, in t = tan(θ/2), a quadratic equation with the
// coefficients level+a, -2b and level-a. Lengths of metres are millionths of a radian, of which a cosine shows nothing
// but its first few digits: whoever knows level-a and the discriminant by differences must give them, and no arccosine
// is taken of anything.

// through calls found with the angles, between the two places, at which the way enters and leaves a disc: what is
// within a radius of v.
func (w *Way) through(v vec, c disc, found func(theta float64)) {
	d := v.minus(w.from)
	across := w.normal.dot(d) // sine of the distance from the great circle, which goes through the first place
	squared := d.dot(d)
	// The chord from the first place, squared, is 2(1-a), and that of the radius 2(1-level).
	solve(2-(squared+c.chord2)/2, (squared-c.chord2)/2, w.side.dot(d), (c.sin-across)*(c.sin+across), w.end, found)
}

// reaches calls found with the angles, between the two places, at which the sine of the distance from a great circle,
// given by the vector that is at right angles to its plane, is level.
func (w *Way) reaches(normal vec, level float64, found func(theta float64)) {
	a, b := w.from.dot(normal), w.side.dot(normal)
	size := math.Hypot(a, b)
	solve(level+a, level-a, b, (size-level)*(size+level), w.end, found)
}

// solve calls found with the angles from 0 to end that solve the equation; the discriminant is that of half its terms.
func solve(sum, difference, b, discriminant, end float64, found func(theta float64)) {
	if !(discriminant >= 0) {
		return
	}
	// Of the two ways to write each root the one in which nothing cancels.
	q := b + math.Copysign(math.Sqrt(discriminant), b)
	for _, theta := range [...]float64{2 * math.Atan2(q, sum), 2 * math.Atan2(difference, q)} {
		for _, turn := range [...]float64{-2 * math.Pi, 0, 2 * math.Pi} {
			if t := theta + turn; t >= 0 && t <= end {
				found(t)
			}
		}
	}
}
