package area

import (
	"math"

	"github.com/motorpool/fleet"
)

// circle holds what is not farther from its centre than its radius.
type circle struct {
	lat, lng, radius float64
	sinLat, cosLat   float64
	haversine        float64 // of the radius
	disc             disc
	centre           vec
	box              Bounds
}

func newCircle(lat, lng, radius float64) *circle {
	g := &circle{lat: lat, lng: lng, radius: radius, centre: toVec(lat, lng)}
	g.sinLat, g.cosLat = math.Sincos(lat * radians)
	sin := math.Sin(angle(radius) / 2)
	g.haversine = sin * sin
	g.disc = newDisc(radius)
	g.box = capBounds(lat, lng, radius)
	return g
}

// capBounds is a box around all places within a distance of one.
func capBounds(lat, lng, metres float64) Bounds {
	metres = metres*(1+1e-9) + 1e-3
	south, north := lat-metres/metresPerDegree, lat+metres/metresPerDegree
	if south <= -90 || north >= 90 {
		return Bounds{max(south, -90), -180, min(north, 90), 180}
	}
	half := math.Asin(min(1, math.Sin(angle(metres))/math.Cos(lat*radians)))/radians + 1e-9
	return wrapped(south, lng-half, north, lng+half)
}

func (g *circle) contains(lat, lng float64) bool {
	if !(lat >= g.box.South && lat <= g.box.North) {
		return false
	}
	// The first terms of the series tell, but within some thousandths of the radius. What they leave out is less than a
	// ten thousandth, of angles below 0.005 and not near a pole.
	y, x := (lat-g.lat)*radians, (lng-g.lng)*radians
	if g.cosLat > 0.1 && math.Abs(y) < 0.005 && math.Abs(x) < 0.005 {
		h := (y*y + g.cosLat*(g.cosLat-g.sinLat*y)*x*x) / 4
		if h < g.haversine*(1-1e-3) {
			return true
		}
		if h > g.haversine*(1+1e-3) {
			return false
		}
	}
	sinLat := math.Sin((lat - g.lat) * radians / 2)
	if sinLat*sinLat > g.haversine*(1+1e-9) {
		return false
	}
	sinLng := math.Sin((lng - g.lng) * radians / 2)
	h := sinLat*sinLat + g.cosLat*math.Cos(lat*radians)*sinLng*sinLng
	if h < g.haversine*(1-1e-9) {
		return true
	}
	return h <= g.haversine*(1+1e-9) && fleet.Distance(g.lat, g.lng, lat, lng) <= g.radius
}

func (g *circle) outside(lat, lng, margin float64) bool {
	return !g.contains(lat, lng) && !(fleet.Distance(g.lat, g.lng, lat, lng) <= g.radius+margin)
}

func (g *circle) crosses(w *Way) (enter, exit float64, ok bool) {
	enter, exit = math.Inf(1), math.Inf(-1)
	meet := func(t float64) { enter, exit = min(enter, t), max(exit, t) }
	if g.contains(w.lat1, w.lng1) {
		meet(0)
	}
	if g.contains(w.lat2, w.lng2) {
		meet(1)
	}
	if w.round() {
		w.through(g.centre, g.disc, func(theta float64) { meet(theta / w.end) })
	}
	if enter > exit {
		return 0, 0, false
	}
	return enter, exit, true
}

// misses: a way goes through only if it comes nearest to the centre between its ends, and near enough.
func (g *circle) misses(w *Way) bool {
	if !w.round() {
		return true
	}
	if w.end > 1 || g.disc.chord2 >= 2 {
		return false
	}
	// The differences keep their digits where the places are near each other.
	from, to := g.centre.minus(w.from), g.centre.minus(w.to)
	return w.side.dot(from) <= -rounding || w.back.dot(to) <= -rounding ||
		math.Abs(w.normal.dot(from)) > g.disc.sin+rounding
}

func (g *circle) bounds() Bounds { return g.box }

func (g *circle) vertices() int { return 1 }

// area is that of a spherical cap.
func (g *circle) area() float64 {
	return 4 * math.Pi * fleet.EarthRadius * fleet.EarthRadius * g.haversine
}

func (g *circle) seeds() []fleet.Place { return []fleet.Place{{Lat: g.lat, Lng: g.lng}} }

// relate: a ball on the sphere is convex, so it holds a cell when it holds its corners.
func (g *circle) relate(c *cell) relation {
	if apart := g.centre.metres(c.centre) - c.radius; apart > g.radius+c.slack+nearBy {
		return 0
	}
	farthest := 0.0
	for _, v := range c.corners {
		farthest = max(farthest, g.centre.metres(v))
	}
	if farthest <= g.radius-c.slack {
		return interior
	}
	return closeness(c.metres(g.centre)-g.radius, c.slack)
}
