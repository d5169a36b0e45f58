package geocode

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/motorpool/fleet"
)

//go:embed gazetteer/places.bin.gz
var bundled []byte

// Reach of the gazetteer, in metres.
const (
	maxPlaceRadius = 25e3  // no town is taken to be larger
	outskirts      = 1e3   // added to the radius of every place
	farFromAll     = 500e3 // beyond it no place is near enough to be named
)

// Gazetteer finds the populated place that a position is in or near, from data in memory. It is made by NewGazetteer,
// does not change afterwards but for what it remembers of its answers, and is safe for concurrent use.
//
// A place is taken to be a circle whose area holds its people at a usual density. Of the circles around a position the
// one with the smallest relative distance is named ("Austin, Texas, US"), so that a suburb is found within a large
// city; outside all of them the one with the nearest edge is named with distance and direction ("4 km N of Buda, Texas,
// US").
type Gazetteer struct {
	// The places as a k-d tree over unit vectors: the middle of each slice is its root, and splits it by the axis
	// depth%3. Distances along straight lines in space have neither poles nor an antimeridian.
	places  []place
	regions []string
	names   string // all names; a place knows where its own is

	said *lru.Cache[[2]float64, string] // of positions that were asked for last: screens ask for the same again and again
}

// mostSaid is how many answers a gazetteer remembers, which takes about 2 MB.
const mostSaid = 10_000

type place struct {
	at         [3]float32
	radius     float32 // m
	name       uint32  // offset in names
	nameLength uint8
	region     uint16
}

// NewGazetteer unpacks the bundled data, which takes about a tenth of a second and 8 MB.
func NewGazetteer() (*Gazetteer, error) {
	g, err := readGazetteer(bundled)
	if err != nil {
		return nil, fmt.Errorf("read bundled gazetteer: %w", err)
	}
	g.said, err = lru.New[[2]float64, string](mostSaid)
	return g, err
}

// Address returns the words for a place on Earth, and "" for the open sea and for coordinates that are none. It takes
// some microseconds.
func (g *Gazetteer) Address(lat, lng float64) string {
	if !(math.Abs(lat) <= 90 && math.Abs(lng) <= 180) || len(g.places) == 0 {
		return ""
	}
	if g.said == nil {
		return g.find(lat, lng)
	}
	text, ok := g.said.Get([2]float64{lat, lng})
	if !ok {
		text = g.find(lat, lng)
		g.said.Add([2]float64{lat, lng}, text)
	}
	return text
}

// Town is a populated place as a map shows it, in degrees WGS 84.
type Town struct {
	Name     string
	Lat, Lng float64
}

// Largest returns so many of the largest places, the largest first; of two of one size the one whose name comes first.
func (g *Gazetteer) Largest(n int) []Town {
	name := func(p *place) string { return g.names[p.name : p.name+uint32(p.nameLength)] }
	order := make([]*place, len(g.places))
	for i := range g.places {
		order[i] = &g.places[i]
	}
	slices.SortFunc(order, func(a, b *place) int {
		return cmp.Or(cmp.Compare(b.radius, a.radius), cmp.Compare(name(a), name(b)), slices.Compare(a.at[:], b.at[:]))
	})
	towns := make([]Town, min(n, len(order)))
	for i, p := range order[:len(towns)] {
		x, y, z := float64(p.at[0]), float64(p.at[1]), float64(p.at[2])
		towns[i] = Town{Name: name(p), Lat: math.Asin(z) * 180 / math.Pi, Lng: math.Atan2(y, x) * 180 / math.Pi}
	}
	return towns
}

// find is Address without a look at what was said before.
func (g *Gazetteer) find(lat, lng float64) string {
	s := search{places: g.places, at: unit(lat, lng), inside: -1, nearest: -1, edge: math.Inf(1)}
	s.visit(0, len(g.places), 0)
	if s.inside >= 0 {
		return g.text(s.inside)
	}
	if s.nearest < 0 || s.edge > farFromAll {
		return ""
	}
	p := &g.places[s.nearest]
	away := s.away(p)
	return fmt.Sprintf("%.0f km %s of %s", math.Max(1, away/1000), compass(p.at, s.at), g.text(s.nearest))
}

func (g *Gazetteer) text(i int) string {
	p := &g.places[i]
	return g.names[p.name:p.name+uint32(p.nameLength)] + ", " + g.regions[p.region]
}

// search is one walk through the tree.
type search struct {
	places  []place
	at      [3]float32
	inside  int     // the best place whose circle holds the position, or -1
	ratio   float64 // its relative distance
	nearest int     // the place whose edge is nearest, or -1
	edge    float64 // m to that edge, negative inside
}

// away is the straight distance in metres, which is 130 m short of that on the ground at farFromAll.
func (s *search) away(p *place) float64 {
	dx, dy, dz := float64(p.at[0]-s.at[0]), float64(p.at[1]-s.at[1]), float64(p.at[2]-s.at[2])
	return fleet.EarthRadius * math.Sqrt(dx*dx+dy*dy+dz*dz)
}

func (s *search) visit(from, to, axis int) {
	if from >= to {
		return
	}
	middle := (from + to) / 2
	p := &s.places[middle]
	away := s.away(p)
	edge := away - float64(p.radius)
	if edge < s.edge {
		s.edge, s.nearest = edge, middle
	}
	if edge <= 0 {
		if ratio := away / float64(p.radius); s.inside < 0 || ratio < s.ratio {
			s.inside, s.ratio = middle, ratio
		}
	}
	split := float64(s.at[axis] - p.at[axis])
	next := (axis + 1) % 3
	near, far := [2]int{from, middle}, [2]int{middle + 1, to}
	if split > 0 {
		near, far = far, near
	}
	s.visit(near[0], near[1], next)
	// Beyond the splitting plane a place can matter only if its circle reaches over to where a better one would be.
	if math.Abs(split)*fleet.EarthRadius <= math.Max(0, s.edge)+maxPlaceRadius+outskirts {
		s.visit(far[0], far[1], next)
	}
}

func unit(lat, lng float64) [3]float32 {
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLng, cosLng := math.Sincos(lng * math.Pi / 180)
	return [3]float32{float32(cosLat * cosLng), float32(cosLat * sinLng), float32(sinLat)}
}

// compass names the direction from one point to another in eighths of the circle.
func compass(from, to [3]float32) string {
	fx, fy, fz := float64(from[0]), float64(from[1]), float64(from[2])
	tx, ty, tz := float64(to[0]), float64(to[1]), float64(to[2])
	east := fx*ty - fy*tx
	north := tz*(fx*fx+fy*fy) - fz*(fx*tx+fy*ty)
	eighth := int(math.Round(math.Atan2(east, north)/(math.Pi/4)) + 8)
	return [...]string{"N", "NE", "E", "SE", "S", "SW", "W", "NW"}[eighth%8]
}

var errBroken = errors.New("the file is broken")

func readGazetteer(packed []byte) (*Gazetteer, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	r := reader{rest: raw}
	if string(r.take(4)) != "GAZ1" {
		return nil, errBroken
	}
	regions := r.lines(int(r.uvarint()))
	n := int(r.uvarint())
	names := r.rest
	g := &Gazetteer{places: make([]place, 0, min(n, len(raw))), regions: regions}
	offset := 0
	for range n {
		end := bytes.IndexByte(r.rest, '\n')
		if end < 0 || end > math.MaxUint8 {
			return nil, errBroken
		}
		g.places = append(g.places, place{name: uint32(offset), nameLength: uint8(end)})
		offset += end + 1
		r.take(end + 1)
	}
	g.names = string(names[:offset])
	i := 0
	for region := range regions {
		for range r.uvarint() {
			if i == n {
				return nil, errBroken
			}
			g.places[i].region = uint16(region)
			i++
		}
	}
	for i, quarter := range r.take(n) {
		people := math.Exp2(float64(quarter) / 4)
		// 2,200 people to a square kilometre, as in a middling city, gives a radius of 12 m times the root of their number.
		g.places[i].radius = float32(math.Min(12*math.Sqrt(people), maxPlaceRadius) + outskirts)
	}
	lat, lng := r.differences(n), r.differences(n)
	if r.broken || i != n || len(r.rest) != 0 {
		return nil, errBroken
	}
	for i := range g.places {
		g.places[i].at = unit(float64(lat[i])/1000, float64(lng[i])/1000)
	}
	plant(g.places, 0)
	return g, nil
}

// plant orders places as a k-d tree.
func plant(places []place, axis int) {
	if len(places) < 2 {
		return
	}
	middle := len(places) / 2
	sift(places, middle, axis)
	plant(places[:middle], (axis+1)%3)
	plant(places[middle+1:], (axis+1)%3)
}

// sift moves the k-th smallest place along an axis to index k, smaller ones before it and larger ones after it (Hoare).
func sift(places []place, k, axis int) {
	for low, high := 0, len(places)-1; low < high; {
		pivot := places[(low+high)/2].at[axis]
		i, j := low, high
		for i <= j {
			for places[i].at[axis] < pivot {
				i++
			}
			for places[j].at[axis] > pivot {
				j--
			}
			if i <= j {
				places[i], places[j] = places[j], places[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return
		}
	}
}

// reader reads the parts of the file; after a fault it gives zeros and broken is set.
type reader struct {
	rest   []byte
	broken bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.broken, r.rest = true, nil
		return nil
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.broken, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) lines(n int) []string {
	var lines []string
	for range n {
		end := bytes.IndexByte(r.rest, '\n')
		if end < 0 {
			r.broken = true
			return nil
		}
		lines = append(lines, strings.Clone(string(r.take(end + 1)[:end])))
	}
	return lines
}

func (r *reader) differences(n int) []int64 {
	if n > len(r.rest) {
		r.broken = true
		return nil
	}
	values := make([]int64, n)
	last := int64(0)
	for i := range values {
		v, size := binary.Varint(r.rest)
		if size <= 0 {
			r.broken = true
			return values
		}
		r.rest = r.rest[size:]
		last += v
		values[i] = last
	}
	return values
}
