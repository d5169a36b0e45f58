package area

import "math"

const (
	// fan is how many edges a box of the lowest level of a ring holds, and how many boxes one of the next level.
	fan = 4
	// plain is how many edges a ring may have that needs no boxes: to look at each is as quick, and its points lie
	// together in memory.
	plain = 48
)

// point is a place in degrees, x the longitude without jumps, y the latitude.
type point struct{ x, y float64 }

// box is a rectangle, edges included.
type box struct{ minX, minY, maxX, maxY float64 }

var noBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

func (b box) add(p point) box {
	return box{min(b.minX, p.x), min(b.minY, p.y), max(b.maxX, p.x), max(b.maxY, p.y)}
}

func (b box) union(o box) box {
	return box{min(b.minX, o.minX), min(b.minY, o.minY), max(b.maxX, o.maxX), max(b.maxY, o.maxY)}
}

func (b box) overlaps(o box) bool {
	return b.minX <= o.maxX && o.minX <= b.maxX && b.minY <= o.maxY && o.minY <= b.maxY
}

// grown is the box with a border added.
func (b box) grown(dx, dy float64) box {
	return box{b.minX - dx, b.minY - dy, b.maxX + dx, b.maxY + dy}
}

// ring is a closed line with a tree of boxes over runs of its edges, so that a question costs what is near the point
// and not the whole ring. pts holds the first point again at its end; edge i runs from pts[i] to pts[i+1]. levels[0][j]
// is the box of edges 4j to 4j+3, levels[1][j] that of levels[0][4j] to [4j+3], and so on to a single box. A ring of
// few edges has no tree.
type ring struct {
	pts    []point
	levels [][]box
	box    box
}

func newRing(pts []point) *ring {
	r := &ring{pts: pts, box: noBox}
	for _, p := range pts {
		r.box = r.box.add(p)
	}
	edges := len(pts) - 1
	if edges <= plain {
		return r
	}
	var level []box
	for i := 0; i < edges; i += fan {
		b := noBox
		for _, p := range pts[i : min(i+fan, edges)+1] {
			b = b.add(p)
		}
		level = append(level, b)
	}
	r.levels = append(r.levels, level)
	for len(level) > 1 {
		var next []box
		for i := 0; i < len(level); i += fan {
			b := noBox
			for _, o := range level[i:min(i+fan, len(level))] {
				b = b.union(o)
			}
			next = append(next, b)
		}
		r.levels = append(r.levels, next)
		level = next
	}
	return r
}

// side is where a point lies with respect to a ring.
type side int8

const (
	outer side = iota
	onEdge
	inner
)

// locate tells the side of a point by counting the edges to its right.
func (r *ring) locate(x, y float64) side {
	var odd, on bool
	if r.levels == nil {
		odd, on = r.countEdges(0, len(r.pts)-1, x, y)
	} else {
		odd, on = r.count(len(r.levels)-1, 0, x, y)
	}
	switch {
	case on:
		return onEdge
	case odd:
		return inner
	}
	return outer
}

// count returns whether the number of edges under one box that a ray to the right meets is odd, and whether the point
// is on one of them.
func (r *ring) count(level, i int, x, y float64) (odd, on bool) {
	b := &r.levels[level][i]
	if y < b.minY || y > b.maxY || x > b.maxX {
		return false, false
	}
	last := len(r.pts) - 1
	if x < b.minX {
		// The whole run is to the right: it is met an odd number of times exactly if its ends are on different sides.
		size := fan << (2 * level)
		return (r.pts[i*size].y > y) != (r.pts[min((i+1)*size, last)].y > y), false
	}
	if level == 0 {
		return r.countEdges(i*fan, min((i+1)*fan, last), x, y)
	}
	for j := i * fan; j < min((i+1)*fan, len(r.levels[level-1])); j++ {
		o, on := r.count(level-1, j, x, y)
		if on {
			return false, true
		}
		odd = odd != o
	}
	return odd, false
}

// countEdges is count of the edges from one to before another. An edge holds its lower end and not its upper one, so
// that a ray through a vertex counts right.
func (r *ring) countEdges(from, to int, x, y float64) (odd, on bool) {
	pts := r.pts[from : to+1]
	p := pts[0]
	for _, q := range pts[1:] {
		// Most edges are above or below. One that comes up to the point from below may be left to the edge after it.
		if above := q.y > y; above && p.y > y || !above && p.y < y {
			p = q
			continue
		}
		if x <= max(p.x, q.x) {
			spans := (p.y > y) != (q.y > y)
			if x < min(p.x, q.x) {
				odd = odd != spans
			} else {
				turn := orient(p.x, p.y, q.x, q.y, x, y)
				if turn == 0 {
					return false, true
				}
				if spans && (turn > 0) == (q.y > p.y) {
					odd = !odd
				}
			}
		}
		p = q
	}
	return odd, false
}

// within calls visit for every edge whose box meets b, until it returns false; it returns false then.
func (r *ring) within(b box, visit func(i int, p, q point) bool) bool {
	if r.levels == nil {
		return !r.box.overlaps(b) || r.visit(0, len(r.pts)-1, b, visit)
	}
	return r.descend(len(r.levels)-1, 0, b, visit)
}

func (r *ring) descend(level, i int, b box, visit func(i int, p, q point) bool) bool {
	if !r.levels[level][i].overlaps(b) {
		return true
	}
	if level == 0 {
		return r.visit(i*fan, min((i+1)*fan, len(r.pts)-1), b, visit)
	}
	for j := i * fan; j < min((i+1)*fan, len(r.levels[level-1])); j++ {
		if !r.descend(level-1, j, b, visit) {
			return false
		}
	}
	return true
}

// visit is within of the edges from one to before another.
func (r *ring) visit(from, to int, b box, visit func(i int, p, q point) bool) bool {
	for j := from; j < to; j++ {
		p, q := r.pts[j], r.pts[j+1]
		if p.y < b.minY && q.y < b.minY || p.y > b.maxY && q.y > b.maxY || p.x < b.minX && q.x < b.minX ||
			p.x > b.maxX && q.x > b.maxX {
			continue
		}
		if !visit(j, p, q) {
			return false
		}
	}
	return true
}

// near says whether an edge comes within a distance of a point; k is how much shorter a degree of longitude is than one
// of latitude, and the distance is in degrees of latitude.
func (r *ring) near(x, y, k, distance float64) bool {
	reach := 360.0
	if k > distance/360 {
		reach = distance / k
	}
	return !r.within(box{x, y, x, y}.grown(reach, distance), func(_ int, p, q point) bool {
		return segmentDistance2((p.x-x)*k, p.y-y, (q.x-x)*k, q.y-y) > distance*distance
	})
}

// segmentDistance2 is the square of the distance from the origin to the segment between two points.
func segmentDistance2(px, py, qx, qy float64) float64 {
	dx, dy := qx-px, qy-py
	if length := dx*dx + dy*dy; length > 0 {
		t := max(0, min(1, -(px*dx+py*dy)/length))
		px, py = px+t*dx, py+t*dy
	}
	return px*px + py*py
}

// area returns the area inside in square metres on a unit sphere, exact for edges straight in longitude and latitude.
func (r *ring) area() float64 {
	// The area between an edge and a parallel is the integral of the sine of the latitude over the longitude; measured
	// from the ring's own latitude, small rings lose nothing to rounding.
	base := math.Sin(r.pts[0].y * radians)
	sum := 0.0
	for i := range len(r.pts) - 1 {
		p, q := r.pts[i], r.pts[i+1]
		half := (q.y - p.y) * radians / 2
		mean := math.Sin((p.y + q.y) / 2 * radians)
		if half != 0 {
			mean *= math.Sin(half) / half
		}
		sum += (q.x - p.x) * radians * (mean - base)
	}
	return math.Abs(sum)
}
