package geofence

import (
	"math"
	"sync/atomic"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// CellOf returns the cell of a place, the very same as area.CellOf and many times faster.
//
// A cell of H3 is a hexagon of a regular grid in the gnomonic projection onto that face of an icosahedron whose middle
// is nearest (h3geo.org/docs/core-library/latLngToCellDesc). The face and the hexagon are found by a few products, and
// whole numbers give the hexagons around it, one for each coarser resolution, and in which direction from the middle of
// each the next finer one lies: these are the digits of the cell, turned about by a number of steps that is the same
// for all of them. It, and which cell the coarsest is, depends on the face, the coarsest hexagon and, about the twelve
// pentagons, the first digit that is not 0: for each of these the library is asked once. A place within a fraction of a
// millimetre of an edge is left to the library, so that rounding decides nothing.
func CellOf(lat, lng float64) fleet.Cell {
	face, a, b, ok := hexagonOf(lat, lng)
	if !ok {
		return area.CellOf(lat, lng)
	}
	var pairs [levels]uint8
	first := uint8(0)
	above, beside := uint32(a+shift), uint32(b+shift) // not negative, so that they divide quickly
	for i := range pairs {
		qa, qb := above/7, beside/7
		k := 7*(above-7*qa) + beside - 7*qb
		p := &climbs[k]
		above, beside = qa+uint32(p.a), qb+uint32(p.b)
		if p.first != 0 {
			first = p.first
		}
		pairs[i] = uint8(k)
	}
	a, b = int(above)-most, int(beside)-most
	last := steps3[((a+3*b)%7+7)%7]
	a, b = a-unit[last].a, b-unit[last].b
	a, b = (2*a-b)/7, (a+3*b)/7
	if last != 0 {
		first = last
	}
	if a < -2 || a > 2 || b < -2 || b > 2 {
		return area.CellOf(lat, lng)
	}
	place := &learned[face][a+2][b+2][first]
	if base := place.Load(); base != 0 {
		return assemble(base, last, &pairs)
	}
	cell := area.CellOf(lat, lng)
	for turn := range uint32(6) {
		if base := uint32(cell>>45)&127 | turn<<8 | 1<<16; assemble(base, last, &pairs) == cell {
			place.Store(base)
		}
	}
	return cell
}

// Steps are 0 for the middle, else one more than the sixths of a turn: unit has them along the axes. In a + b*w, with w
// a sixth of a turn, the middles of the hexagons one coarser are the multiples of 2+w or of 3-w, by turns, and of the
// finest those of 3-w, as their resolution is odd. The remainder of a number by 3-w is that of a + b*3 by 7, and steps3
// tells which step has it.
var (
	unit   = [7]struct{ a, b int }{{0, 0}, {1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}}
	steps3 = [7]uint8{0, 1, 3, 2, 5, 6, 4}
)

// Two resolutions are one division: (2+w)(3-w) is 7. What remains of a and b tells both steps.
const (
	levels = (fleet.CellResolution - 1) / 2 // pairs of steps; one is left over
	most   = 16                             // more than the middles two resolutions above the last pair are away
	shift  = most * 7 * 7 * 7 * 7           // most, before the pairs
)

// climb is what two steps do: to a seventh of each of a and b, rounded down, a and b are to be added. first is the
// coarser step that is not 0.
type climb struct{ a, b, first, fine, coarse uint8 }

// climbs by the remainders of a and b by 7.
var climbs = func() (all [49]climb) {
	for fine, u := range unit {
		for coarse, v := range unit {
			// u + (3-w)*v, where w*w is w-1.
			a, b := u.a+3*v.a+v.b, u.b+2*v.b-v.a
			ra, rb := (a%7+7)%7, (b%7+7)%7
			c := climb{a: uint8((ra - a) / 7), b: uint8((rb - b) / 7), first: uint8(coarse), fine: uint8(fine),
				coarse: uint8(coarse)}
			if coarse == 0 {
				c.first = uint8(fine)
			}
			all[7*ra+rb] = c
		}
	}
	return all
}()

// learned has by face, coarsest hexagon and first step the number of the coarsest cell, by how many sixths the steps
// are turned, shifted by 8, and a bit that says that it is known.
var learned [20][5][5][7]atomic.Uint32

// digit of H3 of a step turned by some sixths: from its axis i against the clock these are i, ij, j, jk, k, ik.
func digit(step uint8, turn uint32) uint8 {
	if step == 0 {
		return 0
	}
	return [6]uint8{4, 6, 2, 3, 1, 5}[(uint32(step)-1+turn)%6]
}

// digits of the two steps of a climb by how they are turned, the finer ones below.
var digits = func() (all [6][len(climbs)]uint8) {
	for turn := range all {
		for k, c := range climbs {
			all[turn][k] = digit(c.fine, uint32(turn)) | digit(c.coarse, uint32(turn))<<3
		}
	}
	return all
}()

// assemble makes the number of a cell (h3geo.org/docs/core-library/h3Indexing) of its coarsest cell and step, and the
// climbs from the finest.
func assemble(base uint32, last uint8, pairs *[levels]uint8) fleet.Cell {
	const mode, unused = 1 << 59, 3 * (15 - fleet.CellResolution)
	turn := base >> 8 & 7
	c := fleet.Cell(mode | fleet.CellResolution<<52 | 1<<unused - 1)
	c |= fleet.Cell(base&127)<<45 | fleet.Cell(digit(last, turn))<<42
	for i, k := range pairs {
		c |= fleet.Cell(digits[turn][k]) << (unused + 6*i)
	}
	return c
}

type vector struct{ x, y, z float64 }

func (v vector) dot(x, y, z float64) float64 { return v.x*x + v.y*y + v.z*z }

// face is a face of the icosahedron: its middle, and the axes of its grid in units of the grid.
type face struct{ middle, x, y vector }

const (
	// edge is how near to an edge, in units of the grid, rounding may matter; a cell is one unit wide. The library's own
	// error is below 1e-7 there.
	edge = 1e-6
	// tie is the same for the cosines of the angles to the middles of two faces.
	tie = 1e-9
	// near is the cosine of less than half the angle of 41.81 degrees between two middles: no other is nearer then.
	near = 0.935
)

// hexagonOf names the face and the hexagon of a place, along axes at 60 degrees, and says whether it is sure.
func hexagonOf(lat, lng float64) (nearest, hexA, hexB int, sure bool) {
	if !(math.Abs(lat) <= 90 && math.Abs(lng) <= 180) {
		return 0, 0, 0, false
	}
	sinLat, cosLat := math.Sincos(lat * (math.Pi / 180))
	sinLng, cosLng := math.Sincos(lng * (math.Pi / 180))
	px, py, pz := cosLat*cosLng, cosLat*sinLng, sinLat
	best, second := -1.0, -1.0
	for i := range faces {
		if d := faces[i].middle.dot(px, py, pz); d > near {
			nearest, best, second = i, d, -1
			break
		} else if d > best {
			nearest, best, second = i, d, best
		} else if d > second {
			second = d
		}
	}
	if best-second < tie {
		return 0, 0, 0, false
	}
	f := &faces[nearest]
	x, y := f.x.dot(px, py, pz)/best, f.y.dot(px, py, pz)/best
	// Along the axes, and a third that makes the sum zero; then to the nearest middle.
	b := y * (2 / math.Sqrt(3))
	a := x - b/2
	c := -a - b
	ra, rb, rc := math.RoundToEven(a), math.RoundToEven(b), math.RoundToEven(c)
	da, db, dc := math.Abs(ra-a), math.Abs(rb-b), math.Abs(rc-c)
	switch {
	case da > db && da > dc:
		ra = -rb - rc
	case db > dc:
		rb = -ra - rc
	default:
		rc = -ra - rb
	}
	a, b, c = a-ra, b-rb, c-rc
	if max(math.Abs(a-b), math.Abs(b-c), math.Abs(c-a)) > 1-edge {
		return 0, 0, 0, false
	}
	return nearest, int(ra), int(rb), true
}

var faces = func() (all [20]face) {
	// The length of a unit at resolution 0, and how the seven cells within a cell are turned, which counts at odd ones:
	// INV_RES0_U_GNOMONIC and M_AP7_ROT_RADS of the library.
	scale := 2.61803398874989588842 * math.Pow(7, fleet.CellResolution/2.0)
	const turn = 0.333473172251832115336090755351601070065900389
	for i, f := range &icosahedron {
		sinLat, cosLat := math.Sincos(f.lat)
		sinLng, cosLng := math.Sincos(f.lng)
		sin, cos := math.Sincos(f.azimuth - turn)
		north := vector{-sinLat * cosLng, -sinLat * sinLng, cosLat}
		east := vector{-sinLng, cosLng, 0}
		all[i] = face{
			middle: vector{cosLat * cosLng, cosLat * sinLng, sinLat},
			x: vector{scale * (cos*north.x + sin*east.x), scale * (cos*north.y + sin*east.y),
				scale * (cos*north.z + sin*east.z)},
			y: vector{scale * (sin*north.x - cos*east.x), scale * (sin*north.y - cos*east.y),
				scale * (sin*north.z - cos*east.z)},
		}
	}
	return all
}()

// icosahedron has the middles of the faces and the azimuth of an axis of their grid, in radians: faceCenterGeo and
// faceAxesAzRadsCII of the library.
var icosahedron = [20]struct{ lat, lng, azimuth float64 }{
	{0.803582649718989942, 1.248397419617396099, 5.619958268523939882},
	{1.307747883455638156, 2.536945009877921159, 5.760339081714187279},
	{1.054751253523952054, -1.347517358900396623, 0.780213654393430055},
	{0.600191595538186799, -0.450603909469755746, 0.430469363979999913},
	{0.491715428198773866, 0.401988202911306943, 6.130269123335111400},
	{0.172745327415618701, 1.678146885280433686, 2.692877706530642877},
	{0.605929321571350690, 2.953923329812411617, 2.982963003477243874},
	{0.427370518328979641, -1.888876200336285401, 3.532912002790141181},
	{-0.079066118549212831, -0.733429513380867741, 3.494305004259568154},
	{-0.230961644455383637, 0.506495587332349035, 3.003214169499538391},
	{0.079066118549212831, 2.408163140208925497, 5.930472956509811562},
	{0.230961644455383637, -2.635097066257444203, 0.138378484090254847},
	{-0.172745327415618701, -1.463445768309359553, 0.448714947059150361},
	{-0.605929321571350690, -0.187669323777381622, 0.158629650112549365},
	{-0.427370518328979641, 1.252716453253507838, 5.891865957979238535},
	{-0.600191595538186799, 2.690988744120037492, 2.711123289609793325},
	{-0.491715428198773866, -2.739604450678486295, 3.294508837434268316},
	{-0.803582649718989942, -1.893195233972397139, 3.804819692245439833},
	{-1.307747883455638156, -0.604647643711872080, 3.664438879055192436},
	{-1.054751253523952054, 1.794075294689396615, 2.361378999196363184},
}
