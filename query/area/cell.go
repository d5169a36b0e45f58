package area

import (
	"math"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
)

// relation is how a cell lies to a shape. The order matters: of several the greatest holds.
type relation int8

const (
	apart    relation = iota
	nearby            // it may come within nearBy metres and does not meet it
	boundary          // an edge of the shape may run through it
	interior          // all of it is in the shape
)

// nearBy is how close, in metres, cells count as nearby; see Covering.
const nearBy = 200

func closeness(gap, slack float64) relation {
	switch {
	case gap <= slack:
		return boundary
	case gap <= slack+nearBy:
		return nearby
	}
	return apart
}

// spread is by how much the hexagon of a cell must be widened, about its middle, to hold all its descendants. The
// middles of the descendants of a hexagon with edge 1 are at most sqrt(3)(1/√7 + 1/7 + …) = 1.053 from its own; a
// hexagon holds a circle of that radius if it is widened by 1.053/cos 30° = 1.22. The rest is for the distortion of
// the projection.
const spread = 1.35

// cell is an H3 cell as the shapes look at it: a set of places that surely holds every place of the cell, and of its
// descendants if it has been widened.
type cell struct {
	corners []vec
	centre  vec
	radius  float64 // m, of the farthest corner from the centre
	slack   float64 // m, that the places may lie outside the figure of the corners

	polar          bool // so near a pole that it is no figure in longitude and latitude
	flat           []point
	middle         point
	k              float64 // cosine of the latitude of the middle
	box            box     // of flat
	reachX, reachY float64 // degrees, of slack and nearBy

	edges []arc // made when first needed
}

// outline reads the figure of a cell, widened if descendants are meant.
func outline(h h3.Cell, widen float64) (*cell, error) {
	corners, err := h.Boundary()
	if err != nil {
		return nil, err
	}
	c := &cell{}
	for _, v := range corners {
		p := toVec(v.Lat, v.Lng)
		c.corners = append(c.corners, p)
		c.centre = c.centre.plus(p)
	}
	c.centre = c.centre.unit()
	if widen != 1 {
		for i, p := range c.corners {
			c.corners[i] = c.centre.plus(p.minus(c.centre).times(widen)).unit()
		}
	}
	c.middle.y, c.middle.x = c.centre.place()
	c.k = math.Cos(c.middle.y * radians)
	c.box = noBox
	steepest := 0.0
	for i, p := range c.corners {
		c.radius = max(c.radius, p.metres(c.centre))
		q := point{corners[i].Lng, corners[i].Lat}
		if widen != 1 {
			q.y, q.x = p.place()
		}
		if q.x-c.middle.x > 180 {
			q.x -= 360
		} else if q.x-c.middle.x < -180 {
			q.x += 360
		}
		steepest = max(steepest, math.Abs(q.y))
		c.flat = append(c.flat, q)
		c.box = c.box.add(q)
	}
	// The true edge of a cell is about a great circle; between two points a length L apart it leaves the straight line in
	// longitude and latitude by L² tan(lat) / 8R. Twice that, and a little for H3's own rounding.
	lean := c.radius / fleet.EarthRadius * math.Tan(steepest*radians)
	c.slack = 0.05 + c.radius*lean/4
	c.polar = steepest > 89.95 || lean > 0.2
	c.reachY = (c.slack + nearBy) / metresPerDegree
	c.reachX = c.reachY / max(math.Cos(min(89.99, steepest)*radians), 1e-4)
	return c, nil
}

// gap returns at least how many metres a segment, straight in longitude and latitude, is away from the cell.
func (c *cell) gap(p, q point) float64 {
	m := metresPerDegree
	px, py := (p.x-c.middle.x)*c.k*m, (p.y-c.middle.y)*m
	qx, qy := (q.x-c.middle.x)*c.k*m, (q.y-c.middle.y)*m
	gap := math.Inf(-1)
	// Two convex figures are apart if they are so along the normal of one of their edges.
	try := func(nx, ny float64) {
		length := math.Hypot(nx, ny)
		if length == 0 {
			return
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range c.flat {
			d := (v.x-c.middle.x)*c.k*m*nx + (v.y-c.middle.y)*m*ny
			low, high = min(low, d), max(high, d)
		}
		a, b := px*nx+py*ny, qx*nx+qy*ny
		gap = max(gap, (min(a, b)-high)/length, (low-max(a, b))/length)
	}
	try(-(qy - py), qx-px)
	for i, v := range c.flat {
		w := c.flat[(i+1)%len(c.flat)]
		try(w.y-v.y, -(w.x-v.x)*c.k)
	}
	return gap
}

// sides returns the edges of the convex figure around the corners.
func (c *cell) sides() []arc {
	if c.edges == nil {
		hull := append([]vec(nil), c.corners...)
		// Where a cell lies on an edge of the icosahedron it has an extra corner, which may be dented.
		for i := 0; i < len(hull) && len(hull) > 3; {
			a, b, d := hull[(i+len(hull)-1)%len(hull)], hull[i], hull[(i+1)%len(hull)]
			if a.cross(b).dot(d) <= 0 {
				hull = append(hull[:i], hull[i+1:]...)
				i = 0
				continue
			}
			i++
		}
		for i, v := range hull {
			c.edges = append(c.edges, newArc(v, hull[(i+1)%len(hull)]))
		}
	}
	return c.edges
}

// holds says whether a place is in the figure of the corners.
func (c *cell) holds(p vec) bool {
	if p.dot(c.centre) < 0 {
		return false
	}
	for _, s := range c.sides() {
		if s.normal.dot(p) < 0 {
			return false
		}
	}
	return true
}

// metres returns the distance of a place from the cell, 0 inside.
func (c *cell) metres(p vec) float64 {
	if c.holds(p) {
		return 0
	}
	nearest := math.Inf(1)
	for i := range c.sides() {
		nearest = min(nearest, c.edges[i].metres(p))
	}
	return nearest
}

// arcMetres returns the distance of an arc from the cell, 0 where they meet.
func (c *cell) arcMetres(s *arc) float64 {
	nearest := min(c.metres(s.a), c.metres(s.b))
	for i := range c.sides() {
		if s.meets(&c.edges[i]) {
			return 0
		}
		nearest = min(nearest, s.metres(c.edges[i].a))
	}
	return nearest
}
