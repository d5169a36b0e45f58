package area_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

func parse(t testing.TB, text string) area.Shape {
	t.Helper()
	s, err := area.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

const (
	square   = `{"type":"Polygon","coordinates":[[[10,50],[11,50],[11,51],[10,51],[10,50]],[[10.4,50.4],[10.6,50.4],[10.6,50.6],[10.4,50.6],[10.4,50.4]]]}`
	pacific  = `{"type":"Polygon","coordinates":[[[179,-1],[-179,-1],[-179,1],[179,1],[179,-1]]]}`
	split    = `{"type":"MultiPolygon","coordinates":[[[[179,-1],[180,-1],[180,1],[179,1],[179,-1]]],[[[-180,-1],[-179,-1],[-179,1],[-180,1],[-180,-1]]]]}`
	yard     = `{"type":"Circle","center":[-97.7431,30.2672],"radius_m":250}`
	arctic   = `{"type":"Circle","center":[0,90],"radius_m":100000}`
	dateline = `{"type":"Circle","center":[180,0],"radius_m":1000}`
	road     = `{"type":"Corridor","coordinates":[[10,50],[10.1,50],[10.1,50.1]],"width_m":200}`
)

func TestContains(t *testing.T) {
	for _, c := range []struct {
		shape    string
		lat, lng float64
		want     bool
	}{
		{square, 50.5, 10.2, true},
		{square, 50.5, 10.5, false}, // in the hole
		{square, 50.4, 10.5, true},  // on its edge
		{square, 50, 10, true},      // a corner
		{square, 50, 10.3, true},    // an edge
		{square, 51, 10.3, true},
		{square, 49.9999999, 10.3, false},
		{square, math.NaN(), 10.3, false},
		{square, 50.5, math.Inf(1), false},
		{pacific, 0, 180, true},
		{pacific, 0, -180, true},
		{pacific, 0, 179, true},
		{pacific, 0, -179.5, true},
		{pacific, 0, 0, false},
		{split, 0, 180, true},
		{split, 0, -180, true},
		{split, 0, -179, true},
		{yard, 30.2672, -97.7431, true},
		{yard, 30.2695, -97.7431, false},
		{arctic, 89.5, 12, true},
		{arctic, 89.5, -170, true},
		{arctic, 89, 12, false},
		{dateline, 0, -179.995, true},
		{dateline, 0, 179.995, true},
		{dateline, 0, 179.99, false},
		{road, 50.0005, 10.05, true},
		{road, 50.002, 10.05, false},
		{road, 50.05, 10.1013, true},
		{road, math.NaN(), 10.1013, false},
	} {
		if got := parse(t, c.shape).Contains(c.lat, c.lng); got != c.want {
			t.Errorf("%.60s contains %v,%v: %v", c.shape, c.lat, c.lng, got)
		}
	}
	if (area.Shape{}).Contains(0, 0) {
		t.Error("nothing holds a place")
	}
}

func TestOutsideKeepsItsMargin(t *testing.T) {
	for _, c := range []struct {
		shape            string
		lat, lng, margin float64
		want             bool
	}{
		{square, 50.5, 9.9999, 8, false}, // 7.07 m west
		{square, 50.5, 9.9999, 7, true},
		{square, 50.5, 10.4001, 7, true}, // in the hole
		{square, 50.5, 10.4001, 8, false},
		{square, 50.5, 10.2, 0, false},
		{pacific, 0, -178.9999, 12, false},
		{pacific, 0, -178.9999, 11, true},
		{yard, 30.2695, -97.7431, 6, false}, // 255.7 m from the centre
		{yard, 30.2695, -97.7431, 5, true},
		{road, 50.001, 10.05, 12, false},
		{road, 50.001, 10.05, 11, false},
		{road, 50.0011, 10.05, 11, true},
		{square, math.NaN(), 0, 10, true},
	} {
		if got := parse(t, c.shape).Outside(c.lat, c.lng, c.margin); got != c.want {
			t.Errorf("%.60s %v,%v outside by %v m: %v", c.shape, c.lat, c.lng, c.margin, got)
		}
	}
}

func TestCrossesTellsThePartOfTheWay(t *testing.T) {
	for _, c := range []struct {
		shape                  string
		lat1, lng1, lat2, lng2 float64
		enter, exit            float64
		ok                     bool
	}{
		{square, 50.2, 9, 50.2, 13, 0.25, 0.5, true},
		{square, 50.5, 9, 50.5, 13, 0.25, 0.5, true}, // through the hole as well
		{square, 50.2, 10.5, 50.2, 13, 0, 0.2, true},
		{square, 49, 9, 49, 13, 0, 0, false},
		{square, 50, 9, 50, 13, 0.25, 0.5, true}, // along an edge
		{square, 51, 9, 49, 11, 0.5, 0.5, true},  // through a corner only
		{pacific, 0, 178, 0, -178, 0.25, 0.75, true},
		{split, 0, 178, 0, -178, 0.25, 0.75, true},
		{yard, 30.2672, -97.75, 30.2672, -97.7362, 0.3117, 0.6883, true},
		{road, 49.99, 10.05, 50.01, 10.05, 0.455, 0.545, true},
		{road, 49.99, 10.05, 49.995, 10.05, 0, 0, false},
	} {
		enter, exit, ok := parse(t, c.shape).Crosses(c.lat1, c.lng1, c.lat2, c.lng2)
		if ok != c.ok || math.Abs(enter-c.enter) > 0.001 || math.Abs(exit-c.exit) > 0.001 {
			t.Errorf("%.60s from %v,%v to %v,%v: %v %v %v", c.shape, c.lat1, c.lng1, c.lat2, c.lng2, enter, exit, ok)
		}
	}
}

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		shape    string
		area     float64
		vertices int
		bounds   area.Bounds
	}{
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}`, 1.2364e10, 4,
			area.Bounds{South: 0, West: 0, North: 1, East: 1}},
		{pacific, 4.9456e10, 4, area.Bounds{South: -1, West: 179, North: 1, East: -179}},
		{split, 4.9456e10, 8, area.Bounds{South: -1, West: 179, North: 1, East: -179}},
		{`{"type":"Circle","center":[0,0],"radius_m":1000}`, math.Pi * 1e6, 1,
			area.Bounds{South: -0.008993, West: -0.008993, North: 0.008993, East: 0.008993}},
		{arctic, math.Pi * 1e10, 1, area.Bounds{South: 89.10068, West: -180, North: 90, East: 180}},
		{road, 200*(7147.6+11119.5) + math.Pi*1e4, 3,
			area.Bounds{South: 49.9991, West: 9.9986, North: 50.1009, East: 10.1014}},
	} {
		s := parse(t, c.shape)
		b := s.Bounds()
		for _, pair := range [][2]float64{{b.South, c.bounds.South}, {b.West, c.bounds.West}, {b.North, c.bounds.North},
			{b.East, c.bounds.East}} {
			if math.Abs(pair[0]-pair[1]) > 1e-4 {
				t.Errorf("%.60s: bounds %v", c.shape, b)
				break
			}
		}
		if math.Abs(s.Area()/c.area-1) > 1e-3 || s.Vertices() != c.vertices {
			t.Errorf("%.60s: area %v, %d vertices", c.shape, s.Area(), s.Vertices())
		}
	}
}

// draw makes a shape of any kind about a place, from tens of metres to tens of kilometres.
func draw(rng *rand.Rand, lat, lng float64) string {
	size := 25 * math.Pow(800, rng.Float64()) // m, half across
	east := size / 111195 / max(math.Cos(lat*math.Pi/180), 1e-3)
	north := size / 111195
	at := func(dx, dy float64) string {
		x, y := lng+dx*east, max(-89.9, min(89.9, lat+dy*north))
		x = math.Mod(x+540, 360)
		if x < 0 {
			x += 360
		}
		return fmt.Sprintf("[%.7f,%.7f]", x-180, y)
	}
	star := func(cx, cy, scale float64) string {
		n := 5 + rng.IntN(25)
		text := "["
		for i := range n {
			r := scale * (0.4 + 0.6*rng.Float64())
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			text += at(cx+r*cos, cy+r*sin) + ","
		}
		return text[:len(text)-1] + "]"
	}
	switch rng.IntN(5) {
	case 0:
		return fmt.Sprintf(`{"type":"Polygon","coordinates":[%s]}`, star(0, 0, 1))
	case 1:
		return fmt.Sprintf(`{"type":"Polygon","coordinates":[%s,%s]}`, star(0, 0, 1), star(0, 0, 0.35))
	case 2:
		return fmt.Sprintf(`{"type":"MultiPolygon","coordinates":[[%s],[%s]]}`, star(-1, 0, 0.9), star(1, 0.3, 0.9))
	case 3:
		return fmt.Sprintf(`{"type":"Circle","center":%s,"radius_m":%.2f}`, at(0, 0), size)
	default:
		text := ""
		x, y := -1.0, 0.0
		for range 2 + rng.IntN(8) {
			text += at(x, y) + ","
			x, y = x+rng.Float64(), y+rng.Float64()-0.5
		}
		return fmt.Sprintf(`{"type":"Corridor","coordinates":[%s],"width_m":%.1f}`, text[:len(text)-1],
			5+rng.Float64()*min(size, 9000))
	}
}

// places where covering is hard: everyday ones, the antimeridian, high latitudes, the poles and H3's pentagons.
var hard = [][2]float64{
	{30.27, -97.74}, {-33.87, 151.2}, {51.96, 7.63}, {0, 180}, {65, -179.9}, {-75, 179.99}, {78.2, 15.6},
	{-85, 30}, {89.2, 100}, {89.8, -30}, {-89.7, 0}, {64.7, 10.5}, {58.4, -11.3}, {39.1, 122.3}, {50.1, -143.5},
	{23.7, -67.1}, {10.44, 58.16}, {2.3, -5.24}, {0, 0},
}

func TestCoverLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		at := hard[rng.IntN(len(hard))]
		lat, lng := at[0]+rng.NormFloat64()*0.05, at[1]+rng.NormFloat64()*0.05
		text := draw(rng, max(-90, min(90, lat)), lng)
		s, err := area.Parse([]byte(text))
		for err != nil { // a star about a pole, or cut off beside it, is no shape; nowhere else may one be refused
			var e *fleet.Error
			refused := func(f fleet.FieldError) bool { return f.Code != "contains_pole" && f.Code != "self_crossing" }
			if math.Abs(lat) < 89 || !errors.As(err, &e) || slices.ContainsFunc(e.Fields, refused) {
				t.Fatalf("%s is refused: %v", text, err)
			}
			text = draw(rng, max(-90, min(90, lat)), lng)
			s, err = area.Parse([]byte(text))
		}
		resolution := fleet.CellResolution
		limit := []int{0, 50, 2000}[rng.IntN(3)]
		c, err := area.Compact(s, resolution, limit)
		if err != nil {
			t.Fatal(err)
		}
		kind := map[fleet.Cell]string{}
		for name, cells := range map[string][]fleet.Cell{"interior": c.Interior, "boundary": c.Boundary, "nearby": c.Nearby} {
			for _, cell := range cells {
				if was := kind[cell]; was != "" {
					t.Fatalf("%s: %x is %s and %s", text, cell, was, name)
				}
				kind[cell] = name
			}
		}
		find := func(lat, lng float64) string {
			for r, cell := resolution, area.CellOf(lat, lng); r >= 0; r-- {
				if k := kind[area.Parent(cell, r)]; k != "" {
					return k
				}
			}
			return "none"
		}
		b := s.Bounds()
		width := b.East - b.West
		if width < 0 {
			width += 360
		}
		for range 300 {
			la := b.South + (rng.Float64()*1.2-0.1)*(b.North-b.South)
			lo := b.West + (rng.Float64()*1.2-0.1)*width
			if lo > 180 {
				lo -= 360
			} else if lo < -180 {
				lo += 360
			}
			if la > 90 || la < -90 {
				continue
			}
			in, k := s.Contains(la, lo), find(la, lo)
			if in && k != "interior" && k != "boundary" || !in && k == "interior" {
				t.Fatalf("%s holds %v,%v: %v, and its cell is %s", text, la, lo, in, k)
			}
			if !in && k == "none" && !s.Outside(la, lo, 180) {
				t.Fatalf("%s: %v,%v is within 180 m, and its cell is not known", text, la, lo)
			}
			if in != b.Contains(la, lo) && in {
				t.Fatalf("%s holds %v,%v and its bounds %v do not", text, la, lo, b)
			}
		}
	})
}

func TestCoverOfOneResolution(t *testing.T) {
	s := parse(t, `{"type":"Circle","center":[2.3522,48.8566],"radius_m":5000}`)
	interior, boundary, err := cover(s, 9)
	if err != nil {
		t.Fatal(err)
	}
	if size := s.Area() / 1e6; float64(len(interior)) < 0.85*size/0.11 ||
		float64(len(boundary)) > 0.4*float64(len(interior)) {
		t.Errorf("%d interior and %d boundary cells for %.1f km²", len(interior), len(boundary), size)
	}
	compact, err := area.Compact(s, 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The spans of the compact cells are exactly the cells of one resolution.
	held := 0
	for _, c := range compact.Interior {
		first, last := area.Span(c, 9)
		for _, cell := range interior {
			if cell >= first && cell <= last {
				held++
			}
		}
	}
	if held != len(interior) {
		t.Errorf("the spans hold %d of %d cells", held, len(interior))
	}
	t.Logf("%d cells as %d, %d boundary, %d nearby", len(interior), len(compact.Interior), len(boundary),
		len(compact.Nearby))
}

// cover is Compact with cells of one resolution only, and without those nearby.
func cover(s area.Shape, resolution int) (interior, boundary []fleet.Cell, err error) {
	c, err := area.Compact(s, resolution, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, cell := range c.Interior {
		children, err := h3.Cell(cell).Children(resolution)
		if err != nil {
			return nil, nil, err
		}
		for _, child := range children {
			interior = append(interior, fleet.Cell(child))
		}
	}
	return interior, c.Boundary, nil
}
