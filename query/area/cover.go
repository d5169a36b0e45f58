package area

import (
	"fmt"
	"slices"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
)

// Covering is a shape in H3 cells of several resolutions, none of which descends from another. For a place with cell c
// at the covering's finest resolution, look for c and then for each of its parents (Parent, never LatLngToCell at a
// coarser resolution: the parent of a cell is not the coarse cell that geometrically holds the place).
type Covering struct {
	Interior []fleet.Cell // every place with such a cell is in the shape
	Boundary []fleet.Cell // the place needs Contains
	Nearby   []fleet.Cell // no place is in the shape, and one may be within 180 m of it
}

// Compact covers a shape: a place whose cell at the resolution, and whose cell's parents, are neither interior nor
// boundary cells is not in it. Cells are as coarse as they can be and each list is sorted. Where more than limit cells
// (0: no limit) would be needed, boundary cells stay coarser, which costs time later and is no less exact.
func Compact(s Shape, resolution, limit int) (Covering, error) {
	var out Covering
	if s.g == nil {
		return out, nil
	}
	if resolution < 0 || resolution > 15 {
		return out, fmt.Errorf("cover at resolution %d: want 0 to 15", resolution)
	}
	at := s.start(resolution)
	open, err := s.flood(at, resolution, &out)
	if err != nil {
		return out, fmt.Errorf("cover at resolution %d: %w", at, err)
	}
	for ; at < resolution &&
		(limit <= 0 || len(open)*7+len(out.Interior)+len(out.Boundary)+len(out.Nearby) <= limit); at++ {
		var next []found
		for _, f := range open {
			children, err := f.cell.Children(at + 1)
			if err != nil {
				return out, fmt.Errorf("cover at resolution %d: %w", at+1, err)
			}
			for _, child := range children {
				r, err := s.relate(child, at+1 == resolution)
				if err != nil {
					return out, fmt.Errorf("cover at resolution %d: %w", at+1, err)
				}
				next = out.keep(found{child, r}, next)
			}
		}
		open = next
	}
	for _, f := range open {
		if f.relation == boundary {
			out.Boundary = append(out.Boundary, fleet.Cell(f.cell))
		} else {
			out.Nearby = append(out.Nearby, fleet.Cell(f.cell))
		}
	}
	slices.Sort(out.Interior)
	slices.Sort(out.Boundary)
	slices.Sort(out.Nearby)
	return out, nil
}

// Span returns the first and last number that a descendant of a cell at a finer resolution can have, the cell's own if
// the resolution is its own. Every cell number of that resolution between them is a descendant.
func Span(c fleet.Cell, resolution int) (first, last fleet.Cell) {
	own := int(c>>52) & 15
	first, last = c&^(15<<52)|fleet.Cell(resolution)<<52, 0
	last = first
	for r := own + 1; r <= resolution; r++ {
		shift := 3 * (15 - r)
		first &^= 7 << shift
		last = last&^(7<<shift) | 6<<shift
	}
	return first, last
}

// Parent returns the ancestor of a cell at a resolution not finer than its own.
func Parent(c fleet.Cell, resolution int) fleet.Cell {
	return c&^(15<<52) | fleet.Cell(resolution)<<52 | (1<<(3*(15-resolution)) - 1)
}

// CellOf returns the cell of a place at the resolution of stored positions, and 0 if it is no place.
func CellOf(lat, lng float64) fleet.Cell {
	c, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, fleet.CellResolution)
	if err != nil {
		return 0
	}
	return fleet.Cell(c)
}

// found is a cell that is not apart from the shape.
type found struct {
	cell     h3.Cell
	relation relation
}

// keep puts away what is decided and adds to next what has to be looked at more closely.
func (c *Covering) keep(f found, next []found) []found {
	switch f.relation {
	case interior:
		c.Interior = append(c.Interior, fleet.Cell(f.cell))
	case boundary, nearby:
		next = append(next, f)
	}
	return next
}

// relate looks at a cell, and at all its descendants unless it is one of the finest.
func (s Shape) relate(h h3.Cell, finest bool) (relation, error) {
	widen := spread
	if finest {
		widen = 1
	}
	c, err := outline(h, widen)
	if err != nil {
		return apart, err
	}
	return s.g.relate(c), nil
}

// edgeMetres is the mean length of a cell's edge by resolution, from the tables of H3.
var edgeMetres = [16]float64{
	1281256, 483057, 182513, 68979, 26072, 9854, 3725, 1406, 531, 201, 76, 29, 11, 4.1, 1.6, 0.6,
}

// start returns the resolution at which a few dozen cells cover the shape.
func (s Shape) start(resolution int) int {
	b := s.g.bounds()
	across := fleet.Distance(b.South, 0, b.North, 0)
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	middle := max(0, min(b.South, b.North)) // the widest parallel of the box
	if b.South < 0 && b.North < 0 {
		middle = b.North
	}
	across = max(across, min(fleet.Distance(middle, 0, middle, min(width, 180)), 20e6))
	at := resolution
	for at > min(3, resolution) && edgeMetres[at] < across/6 {
		at--
	}
	return at
}

// flood finds the cells of one resolution that are not apart from the shape, by going from neighbour to neighbour:
// each part of it is connected, and so are the cells that it takes.
func (s Shape) flood(at, resolution int, out *Covering) ([]found, error) {
	var open []found
	seen := map[h3.Cell]bool{}
	var queue []h3.Cell
	for _, p := range s.g.seeds() {
		c, err := h3.LatLngToCell(h3.LatLng{Lat: p.Lat, Lng: p.Lng}, at)
		if err != nil {
			return nil, err
		}
		ring, err := c.GridDisk(1)
		if err != nil {
			return nil, err
		}
		queue = append(queue, ring...)
	}
	for len(queue) > 0 {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[c] {
			continue
		}
		seen[c] = true
		r, err := s.relate(c, at == resolution)
		if err != nil {
			return nil, err
		}
		if r == apart {
			continue
		}
		open = out.keep(found{c, r}, open)
		ring, err := c.GridDisk(1)
		if err != nil {
			return nil, err
		}
		queue = append(queue, ring...)
	}
	return open, nil
}
