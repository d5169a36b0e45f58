package geofence

import (
	"math"
	"sync/atomic"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// CellOf returns the cell of a place, the very same as area.CellOf and some times faster where vehicles have been before.
//
// A cell of H3 is a hexagon of a regular grid in the gnomonic projection onto that face of an icosahedron whose middle is
// nearest (h3geo.org/docs/core-library/latLngToCellDesc). The face and the hexagon are found by a few products; which index
// the hexagon has is asked of the library once and remembered. A place within a fraction of a millimetre of an edge is left to
// the library, so that rounding decides nothing.
func CellOf(lat, lng float64) fleet.Cell {
	hexagon, ok := hexagonOf(lat, lng)
	if !ok {
		return area.CellOf(lat, lng)
	}
	place := &remembered[hexagon*0x9e3779b97f4a7c15>>(64-rememberedBits)]
	if r := place.Load(); r != nil && r.hexagon == hexagon {
		return r.cell
	}
	cell := area.CellOf(lat, lng)
	place.Store(&indexed{hexagon, cell})
	return cell
}

// remembered are the hexagons whose index was asked for last, each at the place that its bits give: some thousand km².
var remembered [1 << rememberedBits]atomic.Pointer[indexed]

const rememberedBits = 16

type indexed struct {
	hexagon uint64
	cell    fleet.Cell
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

// hexagonOf names the face and the hexagon of a place, and says whether it is sure.
func hexagonOf(lat, lng float64) (uint64, bool) {
	if !(math.Abs(lat) <= 90 && math.Abs(lng) <= 180) {
		return 0, false
	}
	sinLat, cosLat := math.Sincos(lat * (math.Pi / 180))
	sinLng, cosLng := math.Sincos(lng * (math.Pi / 180))
	px, py, pz := cosLat*cosLng, cosLat*sinLng, sinLat
	nearest, best, second := 0, -1.0, -1.0
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
		return 0, false
	}
	f := &faces[nearest]
	x, y := f.x.dot(px, py, pz)/best, f.y.dot(px, py, pz)/best
	// Along axes at 60 degrees, and a third that makes the sum zero; then to the nearest middle.
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
		return 0, false
	}
	return uint64(nearest)<<32 | uint64(uint16(int(ra)))<<16 | uint64(uint16(int(rb))), true
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
			x:      vector{scale * (cos*north.x + sin*east.x), scale * (cos*north.y + sin*east.y), scale * (cos*north.z + sin*east.z)},
			y:      vector{scale * (sin*north.x - cos*east.x), scale * (sin*north.y - cos*east.y), scale * (sin*north.z - cos*east.z)},
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
