package area

import (
	"math"
	"slices"

	"github.com/motorpool/fleet"
)

// polygons is one polygon or several, of which it is the union.
type polygons struct {
	parts []polygon
	count int
	box   Bounds
}

// polygon is a shell less its holes, in longitudes without jumps. The rings lie in it, which spares a look into memory.
type polygon struct {
	shell ring
	holes []ring
}

func newPolygons(parts []polygon) *polygons {
	g := &polygons{parts: parts}
	all := noBox
	for i, p := range parts {
		g.count += len(p.shell.pts) - 1
		for k := range p.holes {
			g.count += len(p.holes[k].pts) - 1
		}
		b := p.shell.box
		if i > 0 {
			// Parts on both sides of the antimeridian make a small box across it and not one round the world.
			best := all.union(b)
			for _, shift := range []float64{-360, 360} {
				moved := all.union(box{b.minX + shift, b.minY, b.maxX + shift, b.maxY})
				if moved.maxX-moved.minX < best.maxX-best.minX {
					best = moved
				}
			}
			b = best
		}
		all = b
	}
	for all.minX > 180 {
		all.minX, all.maxX = all.minX-360, all.maxX-360
	}
	for all.maxX < -180 {
		all.minX, all.maxX = all.minX+360, all.maxX+360
	}
	g.box = wrapped(all.minY, all.minX, all.maxY, all.maxX)
	return g
}

func (g *polygons) contains(lat, lng float64) bool {
	if !(lat >= g.box.South && lat <= g.box.North) {
		return false
	}
	for i := range g.parts {
		if g.parts[i].contains(lng, lat) {
			return true
		}
	}
	return false
}

func (p *polygon) contains(x, y float64) bool {
	b := &p.shell.box
	if y < b.minY || y > b.maxY {
		return false
	}
	if x >= b.minX && x <= b.maxX && p.holds(x, y) {
		return true
	}
	// The ring may have been drawn across the antimeridian, and then lies a turn away.
	if east := x + 360; east >= b.minX && east <= b.maxX && p.holds(east, y) {
		return true
	}
	west := x - 360
	return west >= b.minX && west <= b.maxX && p.holds(west, y)
}

func (p *polygon) holds(x, y float64) bool {
	switch p.shell.locate(x, y) {
	case outer:
		return false
	case onEdge:
		return true
	}
	for i := range p.holes {
		h := &p.holes[i]
		b := &h.box
		if x >= b.minX && x <= b.maxX && y >= b.minY && y <= b.maxY && h.locate(x, y) == inner {
			return false
		}
	}
	return true
}

func (g *polygons) outside(lat, lng, margin float64) bool {
	if !(lat >= -90 && lat <= 90 && lng >= -180 && lng <= 180) {
		return true
	}
	if g.contains(lat, lng) {
		return false
	}
	k, distance := math.Cos(lat*radians), margin/metresPerDegree
	for i := range g.parts {
		for _, shift := range turns {
			if g.parts[i].near(lng+shift, lat, k, distance) {
				return false
			}
		}
	}
	return true
}

// turns are the ways in which a longitude may be written.
var turns = [...]float64{0, 360, -360}

func (p *polygon) near(x, y, k, distance float64) bool {
	if p.shell.near(x, y, k, distance) {
		return true
	}
	for i := range p.holes {
		h := &p.holes[i]
		if h.near(x, y, k, distance) {
			return true
		}
	}
	return false
}

func (g *polygons) crosses(w *Way) (enter, exit float64, ok bool) {
	enter, exit = math.Inf(1), math.Inf(-1)
	meet := func(t float64) { enter, exit = min(enter, t), max(exit, t) }
	for i := range g.parts {
		part := &g.parts[i]
		for _, shift := range turns {
			b := w.turnedBox(shift)
			if !part.shell.box.overlaps(b) {
				continue
			}
			p, q := w.turned(shift)
			met := false
			touch := func(t float64) { met = true; meet(t) }
			part.shell.meets(p, q, b, touch)
			for i := range part.holes {
				h := &part.holes[i]
				h.meets(p, q, b, touch)
			}
			// Where no edge is met both ends are on the same side.
			if part.holds(p.x, p.y) {
				meet(0)
				if !met {
					meet(1)
				}
			}
			if met && part.holds(q.x, q.y) {
				meet(1)
			}
		}
	}
	if enter > exit {
		return 0, 0, false
	}
	return enter, exit, true
}

// misses: a way that meets no edge is all inside or all outside.
func (g *polygons) misses(w *Way) bool {
	for i := range g.parts {
		part := &g.parts[i]
		for _, shift := range turns {
			b := w.turnedBox(shift)
			if !part.shell.box.overlaps(b) {
				continue
			}
			p, q := w.turned(shift)
			if part.shell.met(p, q, b) {
				return false
			}
			for i := range part.holes {
				h := &part.holes[i]
				if h.met(p, q, b) {
					return false
				}
			}
		}
	}
	return true
}

// met says whether the way from a to b meets an edge.
func (r *ring) met(a, b point, way box) bool {
	return !r.within(way, func(_ int, p, q point) bool {
		return orient(p.x, p.y, q.x, q.y, a.x, a.y)*orient(p.x, p.y, q.x, q.y, b.x, b.y) > 0 ||
			orient(a.x, a.y, b.x, b.y, p.x, p.y)*orient(a.x, a.y, b.x, b.y, q.x, q.y) > 0
	})
}

// meets calls found with the fraction of the way from a to b for every edge that it meets.
func (r *ring) meets(a, b point, way box, found func(t float64)) {
	dx, dy := b.x-a.x, b.y-a.y
	length := dx*dx + dy*dy
	if length == 0 {
		return
	}
	along := func(p point) float64 { return max(0, min(1, ((p.x-a.x)*dx+(p.y-a.y)*dy)/length)) }
	r.within(way, func(_ int, p, q point) bool {
		atP, atQ := orient(a.x, a.y, b.x, b.y, p.x, p.y), orient(a.x, a.y, b.x, b.y, q.x, q.y)
		if atP == 0 && onWay(p, way) {
			found(along(p))
		}
		if atQ == 0 && onWay(q, way) {
			found(along(q))
		}
		if atP*atQ < 0 && orient(p.x, p.y, q.x, q.y, a.x, a.y)*orient(p.x, p.y, q.x, q.y, b.x, b.y) < 0 {
			ex, ey := q.x-p.x, q.y-p.y
			if det := dx*ey - dy*ex; det != 0 {
				found(max(0, min(1, ((p.x-a.x)*ey-(p.y-a.y)*ex)/det)))
			}
		}
		return true
	})
}

func onWay(p point, way box) bool {
	return p.x >= way.minX && p.x <= way.maxX && p.y >= way.minY && p.y <= way.maxY
}

func (g *polygons) bounds() Bounds { return g.box }

func (g *polygons) vertices() int { return g.count }

func (g *polygons) area() float64 {
	sum := 0.0
	for _, p := range g.parts {
		sum += p.area()
	}
	return sum
}

func (p *polygon) area() float64 {
	sum := p.shell.area()
	for i := range p.holes {
		h := &p.holes[i]
		sum -= h.area()
	}
	return max(0, sum) * fleet.EarthRadius * fleet.EarthRadius
}

func (g *polygons) seeds() []fleet.Place {
	var places []fleet.Place
	for _, p := range g.parts {
		places = append(places, fleet.Place{Lat: p.shell.pts[0].y, Lng: wrap(p.shell.pts[0].x)})
	}
	return slices.Clip(places)
}

// relate: no edge near the cell means that all of it is on one side, which any of its points tells.
func (g *polygons) relate(c *cell) relation {
	found := apart
	for i := range g.parts {
		part := &g.parts[i]
		if c.polar {
			// Longitudes mean little here: leave it to the exact test.
			b := part.shell.box
			if b.maxY >= c.box.minY-c.reachY && b.minY <= c.box.maxY+c.reachY {
				found = max(found, boundary)
			}
			continue
		}
		for _, shift := range turns {
			b := c.box
			b.minX, b.maxX = b.minX+shift, b.maxX+shift
			b = b.grown(c.reachX, c.reachY)
			if !part.shell.box.overlaps(b) {
				continue
			}
			r := part.shell.touch(c, shift, b)
			for i := range part.holes {
				h := &part.holes[i]
				if r == boundary {
					break
				}
				r = max(r, h.touch(c, shift, b))
			}
			if r != boundary && part.holds(c.middle.x+shift, c.middle.y) {
				return interior
			}
			found = max(found, r)
		}
	}
	return found
}

// touch says how near the ring's edges come to a cell: boundary if they may meet it, nearby, or apart.
func (r *ring) touch(c *cell, shift float64, reach box) relation {
	found := apart
	r.within(reach, func(_ int, p, q point) bool {
		p.x, q.x = p.x-shift, q.x-shift
		gap := c.gap(p, q)
		if gap <= c.slack {
			found = boundary
			return false
		}
		if gap <= c.slack+nearBy {
			found = max(found, nearby)
		}
		return true
	})
	return found
}
