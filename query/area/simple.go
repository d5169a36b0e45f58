package area

// crossing finds two edges of a ring that meet where they should not. Edges may meet in a vertex that both have; a ring
// may thus touch itself in a vertex, and may not run back over itself.
func (r *ring) crossing() (i, j int, found bool) {
	edges := len(r.pts) - 1
	for i = range edges {
		a, b := r.pts[i], r.pts[i+1]
		r.within(noBox.add(a).add(b), func(k int, p, q point) bool {
			if k > i && collide(a, b, p, q) {
				j, found = k, true
			}
			return !found
		})
		if found {
			return i, j, true
		}
	}
	return 0, 0, false
}

// crosses finds an edge of a ring that crosses, or lies on, one of another.
func (r *ring) crosses(other *ring) (i, j int, found bool) {
	for i = range len(r.pts) - 1 {
		a, b := r.pts[i], r.pts[i+1]
		other.within(noBox.add(a).add(b), func(k int, p, q point) bool {
			if properly(a, b, p, q) {
				j, found = k, true
			}
			return !found
		})
		if found {
			return i, j, true
		}
	}
	return 0, 0, false
}

// lies says whether the ring, which does not cross the other, is on one side of it: the first point that is not on the
// other's edge tells, and if there is none the middle of an edge.
func (r *ring) lies(other *ring, where side) bool {
	for _, p := range r.pts {
		if s := other.locate(p.x, p.y); s != onEdge {
			return s == where
		}
	}
	for i := range len(r.pts) - 1 {
		p, q := r.pts[i], r.pts[i+1]
		if s := other.locate((p.x+q.x)/2, (p.y+q.y)/2); s != onEdge {
			return s == where
		}
	}
	return false
}

// properly says whether two segments cross in a point that is an end of neither.
func properly(a, b, p, q point) bool {
	return orient(a.x, a.y, b.x, b.y, p.x, p.y)*orient(a.x, a.y, b.x, b.y, q.x, q.y) < 0 &&
		orient(p.x, p.y, q.x, q.y, a.x, a.y)*orient(p.x, p.y, q.x, q.y, b.x, b.y) < 0
}

// collide says whether two segments have more in common than an end of both.
func collide(a, b, p, q point) bool {
	if properly(a, b, p, q) {
		return true
	}
	// An end of one within the other.
	for _, e := range [...]struct{ v, s, t point }{{p, a, b}, {q, a, b}, {a, p, q}, {b, p, q}} {
		if e.v != e.s && e.v != e.t && orient(e.s.x, e.s.y, e.t.x, e.t.y, e.v.x, e.v.y) == 0 &&
			noBox.add(e.s).add(e.t).overlaps(noBox.add(e.v)) {
			return true
		}
	}
	return a == p && b == q || a == q && b == p
}
