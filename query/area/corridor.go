package area

import (
	"math"

	"github.com/motorpool/fleet"
)

// corridor holds what is not farther than half its width from a line of great-circle arcs. Like a ring it has a tree of
// boxes over its arcs, here in space.
type corridor struct {
	arcs   []arc
	half   float64
	disc   disc // about each end and corner
	levels [][]cube
	box    Bounds
	places []fleet.Place
}

// cube is a box in space.
type cube struct{ min, max vec }

func newCorridor(places []fleet.Place, width float64) *corridor {
	g := &corridor{half: width / 2, disc: newDisc(width / 2), places: places}
	line := noBox
	x := places[0].Lng
	for i, p := range places {
		for p.Lng-x > 180 {
			p.Lng -= 360
		}
		for p.Lng-x < -180 {
			p.Lng += 360
		}
		x = p.Lng
		line = line.add(point{p.Lng, p.Lat})
		if i == 0 {
			continue
		}
		s := newArc(toVec(places[i-1].Lat, places[i-1].Lng), toVec(p.Lat, p.Lng))
		g.arcs = append(g.arcs, s)
		// A great circle is at its northernmost and southernmost above and below its axis.
		top := vec{z: 1}.minus(s.normal.times(s.normal.z))
		for _, v := range [...]vec{top, top.times(-1)} {
			if v.dot(s.fromA) > 0 && v.dot(s.fromB) > 0 {
				lat, _ := v.place()
				line.minY, line.maxY = min(line.minY, lat), max(line.maxY, lat)
			}
		}
	}
	south, north := capBounds(line.minY, 0, g.half), capBounds(line.maxY, 0, g.half)
	if reach := max(south.East, north.East); reach == 180 {
		g.box = Bounds{south.South, -180, north.North, 180}
	} else {
		for line.minX > 180 {
			line.minX, line.maxX = line.minX-360, line.maxX-360
		}
		for line.maxX < -180 {
			line.minX, line.maxX = line.minX+360, line.maxX+360
		}
		g.box = wrapped(south.South, line.minX-reach, north.North, line.maxX+reach)
	}
	g.index()
	return g
}

func (g *corridor) index() {
	var level []cube
	for i := 0; i < len(g.arcs); i += fan {
		var c cube
		for j, s := range g.arcs[i:min(i+fan, len(g.arcs))] {
			// An arc leaves its chord by the height of the segment between them.
			bulge := 1 - math.Sqrt(max(0, 1-s.a.minus(s.b).dot(s.a.minus(s.b))/4)) + 1e-12
			own := cube{s.a.lower(s.b).minus(vec{bulge, bulge, bulge}), s.a.upper(s.b).plus(vec{bulge, bulge, bulge})}
			if j == 0 {
				c = own
			}
			c = cube{c.min.lower(own.min), c.max.upper(own.max)}
		}
		level = append(level, c)
	}
	g.levels = append(g.levels, level)
	for len(level) > 1 {
		var next []cube
		for i := 0; i < len(level); i += fan {
			c := level[i]
			for _, o := range level[i:min(i+fan, len(level))] {
				c = cube{c.min.lower(o.min), c.max.upper(o.max)}
			}
			next = append(next, c)
		}
		g.levels = append(g.levels, next)
		level = next
	}
}

func (a vec) lower(b vec) vec { return vec{min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)} }
func (a vec) upper(b vec) vec { return vec{max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)} }

// within calls visit for every arc that may come within a distance (a chord of the unit sphere) of a place, until it
// returns false; it returns false then.
func (g *corridor) within(p vec, chord float64, visit func(s *arc) bool) bool {
	return g.descend(len(g.levels)-1, 0, p, chord*chord, visit)
}

func (g *corridor) descend(level, i int, p vec, chord2 float64, visit func(s *arc) bool) bool {
	c := &g.levels[level][i]
	d := p.minus(p.upper(c.min).lower(c.max))
	if d.dot(d) > chord2 {
		return true
	}
	if level > 0 {
		for j := i * fan; j < min((i+1)*fan, len(g.levels[level-1])); j++ {
			if !g.descend(level-1, j, p, chord2, visit) {
				return false
			}
		}
		return true
	}
	for j := i * fan; j < min((i+1)*fan, len(g.arcs)); j++ {
		if !visit(&g.arcs[j]) {
			return false
		}
	}
	return true
}

func (g *corridor) contains(lat, lng float64) bool {
	return lat >= g.box.South && lat <= g.box.North && g.reaches(toVec(lat, lng), g.half)
}

// reaches says whether a place is within a distance of the line.
func (g *corridor) reaches(p vec, metres float64) bool {
	return p.finite() && !g.within(p, chordOf(metres)+1e-12, func(s *arc) bool { return s.metres(p) > metres })
}

func (g *corridor) outside(lat, lng, margin float64) bool {
	return !g.reaches(toVec(lat, lng), g.half+margin)
}

// crosses tries every place at which the way may enter or leave: where it is at half the width from one of the
// line's corners, which is in the corridor whatever is beside it, or from a great circle of the line, beside its
// arc. Where a belt ends it is as wide as the circle about its end, so that rounding there loses nothing that the
// circle does not have.
func (g *corridor) crosses(w *Way) (enter, exit float64, ok bool) {
	enter, exit = math.Inf(1), math.Inf(-1)
	meet := func(t float64) { enter, exit = min(enter, t), max(exit, t) }
	if g.contains(w.lat1, w.lng1) {
		meet(0)
	}
	if g.contains(w.lat2, w.lng2) {
		meet(1)
	}
	if w.round() {
		corner := func(theta float64) { meet(theta / w.end) }
		g.near(w, func(s *arc) bool {
			beside := func(theta float64) {
				if p := w.at(theta); p.dot(s.fromA) >= 0 && p.dot(s.fromB) >= 0 {
					meet(theta / w.end)
				}
			}
			w.reaches(s.normal, g.disc.sin, beside)
			w.reaches(s.normal, -g.disc.sin, beside)
			w.through(s.a, g.disc, corner)
			w.through(s.b, g.disc, corner)
			return true
		})
	}
	if enter > exit {
		return 0, 0, false
	}
	return enter, exit, true
}

// near calls visit for every arc that may come within half the width of a way, until it returns false; it returns false
// then.
func (g *corridor) near(w *Way, visit func(s *arc) bool) bool {
	return g.within(w.middle, w.end/2+angle(g.half)+1e-9, visit)
}

// misses: a plane through the middle of the earth divides the way from all that is within half the width of an arc, for
// each of the arcs.
func (g *corridor) misses(w *Way) bool {
	if !w.round() {
		return true
	}
	if w.end > 1 {
		return false
	}
	// A place whose unit vector is that far above a plane is at least half the width from all on its other side.
	above := g.disc.sin + rounding
	return g.near(w, func(s *arc) bool {
		from, to := s.normal.dot(w.from), s.normal.dot(w.to)
		if min(from, to) > above || max(from, to) < -above {
			return true
		}
		if max(s.fromA.dot(w.from), s.fromA.dot(w.to)) < -above || max(s.fromB.dot(w.from), s.fromB.dot(w.to)) < -above {
			return true
		}
		a, b := w.normal.dot(s.a), w.normal.dot(s.b)
		return min(a, b) > above || max(a, b) < -above
	})
}

func (g *corridor) bounds() Bounds { return g.box }

func (g *corridor) vertices() int { return len(g.places) }

// area is that of the belts beside the arcs and of one full circle for the two ends.
func (g *corridor) area() float64 {
	sum := newCircle(0, 0, g.half).area()
	for _, s := range g.arcs {
		sum += s.a.metres(s.b) * 2 * fleet.EarthRadius * math.Sin(angle(g.half))
	}
	return sum
}

func (g *corridor) seeds() []fleet.Place { return g.places[:1] }

func (g *corridor) relate(c *cell) relation {
	found := apart
	reach := angle(c.radius+g.half+c.slack+nearBy) + 1e-9
	g.within(c.centre, reach, func(s *arc) bool {
		farthest := 0.0
		for _, v := range c.corners {
			farthest = max(farthest, s.metres(v))
		}
		// A belt bends away from a great circle between two of its points, by less than the second of these.
		size := 2 * c.radius
		if farthest <= g.half-c.slack-size*size*angle(g.half)/(4*fleet.EarthRadius) {
			found = interior
			return false
		}
		found = max(found, closeness(c.arcMetres(s)-g.half, c.slack))
		return true
	})
	return found
}
