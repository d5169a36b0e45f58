package area_test

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// TestShapely holds Contains, and the cells of the cover, against what shapely says of places in and about random
// shapes of all kinds: see check/check.py, which wrote the answers. There must be no difference.
func TestShapely(t *testing.T) {
	file, err := os.Open("check/golden.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Shapely string
		Cases   []struct {
			Shape json.RawMessage
			In    string
		}
	}
	if err := json.NewDecoder(text).Decode(&golden); err != nil {
		t.Fatal(err)
	}
	places, differences := 0, 0
	kinds := map[string]int{}
	for i, c := range golden.Cases {
		s := parse(t, string(c.Shape))
		kinds[kindOf(t, c.Shape)]++
		cover, err := area.Compact(s, fleet.CellResolution, 3000)
		if err != nil {
			t.Fatal(err)
		}
		interior, boundary := map[fleet.Cell]bool{}, map[fleet.Cell]bool{}
		for _, cell := range cover.Interior {
			interior[cell] = true
		}
		for _, cell := range cover.Boundary {
			boundary[cell] = true
		}
		n := 0
		for lat, lng := range placesAbout(t, c.Shape, uint64(i), len(c.In)) {
			want := c.In[n]
			n++
			if want == '-' {
				continue
			}
			places++
			got := s.Contains(lat, lng)
			covered := false
			for r, cell := fleet.CellResolution, area.CellOf(lat, lng); r >= 0 && !covered; r-- {
				p := area.Parent(cell, r)
				covered = interior[p] || boundary[p] && got
			}
			if got != (want == '1') || covered != got {
				if differences++; differences <= 10 {
					t.Errorf("case %d, place %d: %.17g,%.17g: shapely %c, Contains %v, by cells %v\n%.300s", i, n-1, lat, lng, want,
						got, covered, c.Shape)
				}
			}
		}
	}
	t.Logf("shapely %s: %d shapes (%v), %d places, %d differences", golden.Shapely, len(golden.Cases), kinds,
		places, differences)
	if len(golden.Cases) < 1000 {
		t.Errorf("only %d shapes", len(golden.Cases))
	}
}

type drawn struct {
	Type        string
	Coordinates json.RawMessage
	Center      [2]float64
	Radius      float64 `json:"radius_m"`
	Width       float64 `json:"width_m"`
}

func kindOf(t *testing.T, text json.RawMessage) string { return decode[drawn](t, text).Type }

func decode[T any](t *testing.T, text json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// dice is splitmix64.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

func (d *dice) share() float64 { return float64(d.next()>>11) * 0x1p-53 }

// placesAbout draws the places that check.py draws. For polygons every step is rounded as there: the conversions keep
// the compiler from fusing a multiplication with an addition.
func placesAbout(t *testing.T, text json.RawMessage, seed uint64, count int) func(yield func(lat, lng float64) bool) {
	shape, d := decode[drawn](t, text), dice(seed)
	switch shape.Type {
	case "Circle":
		return func(yield func(lat, lng float64) bool) {
			for n := range count {
				f, g := d.share(), d.share()
				reach := 1.4 * f
				if n%4 == 0 {
					reach = 1 + (f-0.5)*math.Pow(10, -float64(n/4%8+1))
				}
				if !yield(destination(shape.Center[1], shape.Center[0], 2*math.Pi*g, shape.Radius*reach)) {
					return
				}
			}
		}
	case "Corridor":
		line := decode[[][2]float64](t, shape.Coordinates)
		return func(yield func(lat, lng float64) bool) {
			for n := range count {
				i, f, g := d.below(len(line)-1), d.share(), d.share()
				a, b := vector(line[i][1], line[i][0]), vector(line[i+1][1], line[i+1][0])
				along := float64(n / 2 % 2)
				if n%2 == 1 {
					along = 1.2*d.share() - 0.1
				}
				for k := range a {
					a[k] += along * (b[k] - a[k])
				}
				reach := 1.5 * f
				if n%4 == 0 {
					reach = 1 + (f-0.5)*math.Pow(10, -float64(n/4%6+1))
				}
				lat, lng := latlng(a)
				if !yield(destination(lat, lng, 2*math.Pi*g, shape.Width/2*reach)) {
					return
				}
			}
		}
	}
	var rings [][][2]float64
	if shape.Type == "Polygon" {
		rings = decode[[][][2]float64](t, shape.Coordinates)
	} else {
		for _, part := range decode[[][][][2]float64](t, shape.Coordinates) {
			rings = append(rings, part...)
		}
	}
	var edges [][2][2]float64
	west, east, south, north := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, ring := range rings {
		for i := 1; i < len(ring); i++ {
			for ring[i][0]-ring[i-1][0] > 180 {
				ring[i][0] -= 360
			}
			for ring[i][0]-ring[i-1][0] < -180 {
				ring[i][0] += 360
			}
		}
		for i, p := range ring {
			edges = append(edges, [2][2]float64{p, ring[(i+1)%len(ring)]})
			west, east, south, north = min(west, p[0]), max(east, p[0]), min(south, p[1]), max(north, p[1])
		}
	}
	between := func(a, b, f float64) float64 { return a + float64(f*float64(b-a)) }
	grid := func(v float64) float64 { return math.Floor(float64(v*1e7)+0.5) / 1e7 }
	return func(yield func(lat, lng float64) bool) {
		for n := range count {
			e := edges[d.below(len(edges))]
			p, q := e[0], e[1]
			f, g, odd := d.share(), d.share(), d.below(2) == 1
			var x, y float64
			switch kind := n % 8; {
			case kind < 3:
				x, y = between(west, east, f), between(south, north, g)
			case kind == 3:
				x, y = p[0], p[1]
			case kind == 4:
				if odd {
					f = 0.5
				}
				x, y = between(p[0], q[0], f), between(p[1], q[1], f)
			case kind == 5:
				x, y = between(p[0], q[0], f), between(p[1], q[1], f)
				if odd {
					x = math.Nextafter(x, 1e9)
				} else {
					x = math.Nextafter(x, -1e9)
				}
			case kind == 6 && odd:
				x, y = between(west, east, f), p[1]
			case kind == 6:
				x, y = p[0], between(south, north, g)
			default:
				f = float64(3*f) - 1
				x, y = grid(between(p[0], q[0], f)), grid(between(p[1], q[1], f))
			}
			if n%40 == 39 {
				x, y = float64(360*f)-180, float64(180*g)-90
			}
			for x > 180 {
				x -= 360
			}
			for x < -180 {
				x += 360
			}
			if !yield(max(-90, min(90, y)), x) {
				return
			}
		}
	}
}

func vector(lat, lng float64) [3]float64 {
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLng, cosLng := math.Sincos(lng * math.Pi / 180)
	return [3]float64{cosLat * cosLng, cosLat * sinLng, sinLat}
}

func latlng(v [3]float64) (lat, lng float64) {
	return math.Atan2(v[2], math.Hypot(v[0], v[1])) * 180 / math.Pi, math.Atan2(v[1], v[0]) * 180 / math.Pi
}

func destination(lat, lng, course, metres float64) (float64, float64) {
	p := vector(lat, lng)
	sin, cos := math.Sincos(lng * math.Pi / 180)
	east := [3]float64{-sin, cos, 0}
	north := [3]float64{p[1]*east[2] - p[2]*east[1], p[2]*east[0] - p[0]*east[2], p[0]*east[1] - p[1]*east[0]}
	sinFar, cosFar := math.Sincos(metres / fleet.EarthRadius)
	sinWay, cosWay := math.Sincos(course)
	var v [3]float64
	for k := range v {
		v[k] = cosFar*p[k] + sinFar*(cosWay*north[k]+sinWay*east[k])
	}
	return latlng(v)
}
