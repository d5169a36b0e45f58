package area_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// TestPassesAreCrossingsWithBothEndsOutside: whoever dismisses a way without computing where it enters must be right.
func TestPassesAreCrossingsWithBothEndsOutside(t *testing.T) {
	passes := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		at := hard[rng.IntN(len(hard))]
		text := draw(rng, max(-89, min(89, at[0]+rng.NormFloat64()*0.05)), at[1]+rng.NormFloat64()*0.05)
		s, err := area.Parse([]byte(text))
		if err != nil {
			return
		}
		b := s.Bounds()
		width := math.Mod(b.East-b.West+360, 360)
		place := func() (lat, lng float64) {
			lat = b.South + (rng.Float64()*1.6-0.3)*(b.North-b.South)
			lng = b.West + (rng.Float64()*1.6-0.3)*width
			return max(-90, min(90, lat)), math.Remainder(lng, 360)
		}
		for range 200 {
			lat1, lng1 := place()
			lat2, lng2 := place()
			if rng.IntN(2) == 0 { // a short way
				part := math.Pow(10, -3*rng.Float64())
				lat2, lng2 = lat1+part*(lat2-lat1), math.Remainder(lng1+part*math.Remainder(lng2-lng1, 360), 360)
			}
			way := area.NewWay(lat1, lng1, lat2, lng2)
			enter, exit, ok := s.Crosses(lat1, lng1, lat2, lng2)
			if ok = ok && enter > 0 && exit < 1 && enter < exit; !ok {
				enter, exit = 0, 0
			}
			if e, x, got := s.Passes(&way); got != ok || e != enter || x != exit {
				t.Fatalf("%s from %v,%v to %v,%v: %v %v %v, want %v %v %v", text, lat1, lng1, lat2, lng2, e, x, got,
					enter, exit, ok)
			}
			if ok {
				passes++
			}
		}
	})
	if passes < 100 {
		t.Errorf("only %d passes", passes)
	}
}

// TestACircleHoldsWhatIsNotFartherThanItsRadius, on its edge most of all.
func TestACircleHoldsWhatIsNotFartherThanItsRadius(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		at := hard[rng.IntN(len(hard))]
		lat, lng := fleet.Quantise(max(-90, min(90, at[0]+rng.NormFloat64()*20))), fleet.Quantise(at[1])
		radius := math.Round(25*math.Pow(800, rng.Float64())*10) / 10
		s := mustParse(t, fmt.Sprintf(`{"type":"Circle","center":[%v,%v],"radius_m":%v}`, lng, lat, radius))
		for range 200 {
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			far := radius / 111195 * (1 + math.Pow(10, -8*rng.Float64())*rng.NormFloat64())
			la, lo := lat+far*cos, lng+far*sin/max(math.Cos(lat*math.Pi/180), 1e-3)
			if math.Abs(la) > 90 {
				continue
			}
			if got, want := s.Contains(la, lo), fleet.Distance(lat, lng, la, lo) <= radius; got != want {
				t.Fatalf("circle of %v m about %v,%v holds %v,%v: %v, want %v", radius, lat, lng, la, lo, got, want)
			}
		}
	})
}

// TestMoreVerticesOnTheEdgesChangeNothing: rings of few and of many edges are searched in different ways.
func TestMoreVerticesOnTheEdgesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		// A star on a grid of 1/64 of a degree, so that the places in between, at 1/1024, are exact.
		var star [][2]float64
		n := 6 + rng.IntN(30)
		for i := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			r := 1 + rng.Float64()
			star = append(star, [2]float64{9 + math.Round(r*cos*64)/64, 49 + math.Round(r*sin*64)/64})
		}
		ring := func(parts int) string {
			var text []string
			for i, p := range append(star, star[0])[:n] {
				q := star[(i+1)%n]
				for k := range parts {
					f := float64(k) / float64(parts)
					text = append(text, fmt.Sprintf("[%v,%v]", p[0]+f*(q[0]-p[0]), p[1]+f*(q[1]-p[1])))
				}
			}
			return `{"type":"Polygon","coordinates":[[` + strings.Join(append(text, text[0]), ",") + `]]}`
		}
		few, err := area.Parse([]byte(ring(1)))
		if err != nil {
			return // the grid makes it touch itself
		}
		many := mustParse(t, ring(16))
		for range 200 {
			lat, lng := 46.9+4.2*rng.Float64(), 6.9+4.2*rng.Float64()
			if rng.IntN(2) == 0 { // as an edge has them, also on one
				lat, lng = math.Round(lat*64)/64, math.Round(lng*64)/64
			}
			if few.Contains(lat, lng) != many.Contains(lat, lng) {
				t.Fatalf("%s holds %v,%v: %v", ring(1), lat, lng, few.Contains(lat, lng))
			}
			if margin := 5000 * rng.Float64(); few.Outside(lat, lng, margin) != many.Outside(lat, lng, margin) {
				t.Fatalf("%s is at least %v m from %v,%v: %v", ring(1), margin, lat, lng, few.Outside(lat, lng, margin))
			}
		}
	})
}

func mustParse(t *rapid.T, text string) area.Shape {
	s, err := area.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

// TestAWayIsInAShapeWhereItsPlacesAre: fine steps along ways beside ends, corners, bends and edges are the reference.
// What a step sees in the shape lies between enter and exit, and at both the way is at the edge, to a millimetre; so
// the times of a pass are those of the steps, as far as a step can tell.
func TestAWayIsInAShapeWhereItsPlacesAre(t *testing.T) {
	const steps, millimetre = 400, 1e-3
	position := regexp.MustCompile(`\[(-?[0-9.]+),(-?[0-9.]+)\]`)
	passes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		at := hard[rng.IntN(len(hard))]
		text := draw(rng, max(-89, min(89, at[0]+rng.NormFloat64()*0.05)), at[1]+rng.NormFloat64()*0.05)
		s, err := area.Parse([]byte(text))
		if err != nil {
			return
		}
		var reach float64
		corners := position.FindAllStringSubmatch(text, -1)
		kind, measure, _ := strings.Cut(text[len(`{"type":"`):], `"`)
		if _, after, found := strings.Cut(measure, `_m":`); found {
			reach = decimal(t, strings.TrimSuffix(after, "}"))
		}
		if kind == "Corridor" {
			reach /= 2
		}
		for range 20 {
			corner := corners[rng.IntN(len(corners))]
			lat, lng := decimal(t, corner[2]), decimal(t, corner[1])
			// Nearest to the corner here, as far away as the edge, more or less, or nearly touching it from either side.
			course := 2 * math.Pi * rng.Float64()
			far := reach + cmp.Or(reach, 30)*math.Pow(10, -6*rng.Float64())*rng.NormFloat64()
			lat, lng = destination(lat, lng, course, far)
			length := 5 * math.Pow(2000, rng.Float64())
			before := length * rng.Float64()
			across := course + math.Pi/2*float64(1+2*rng.IntN(2)) + float64(rng.IntN(2))*rng.NormFloat64()
			lat1, lng1 := destination(lat, lng, across+math.Pi, before)
			lat2, lng2 := destination(lat, lng, across, length-before)
			if max(math.Abs(lat1), math.Abs(lat2)) > 89.5 {
				continue // a straight line in longitude and latitude is no way there
			}
			on := between(lat1, lng1, lat2, lng2)
			if strings.HasSuffix(kind, "Polygon") {
				east := math.Remainder(lng2-lng1, 360)
				on = func(f float64) (lat, lng float64) {
					return lat1 + f*(lat2-lat1), math.Remainder(lng1+f*east, 360)
				}
			}
			first, last := math.Inf(1), math.Inf(-1)
			for i := range steps + 1 {
				f := float64(i) / steps
				if s.Contains(on(f)) {
					first, last = min(first, f), max(last, f)
				}
			}
			enter, exit, ok := s.Crosses(lat1, lng1, lat2, lng2)
			way := fmt.Sprintf("%s from %v,%v to %v,%v", text, lat1, lng1, lat2, lng2)
			if slack := millimetre / length; first <= last && (!ok || enter > first+slack || exit < last-slack) {
				t.Fatalf("%s: from %v to %v %v, and steps are inside from %v to %v", way, enter, exit, ok, first, last)
			}
			if !ok {
				continue
			}
			for _, f := range []float64{enter, exit} {
				if lat, lng := on(f); s.Outside(lat, lng, millimetre) {
					t.Fatalf("%s: not at the edge at %v", way, f)
				}
			}
			if enter > 0 && exit < 1 && enter < exit {
				passes[kind]++
			}
		}
	})
	for _, kind := range []string{"Polygon", "MultiPolygon", "Circle", "Corridor"} {
		if passes[kind] < 10 {
			t.Errorf("only %d passes of a %s", passes[kind], kind)
		}
	}
}

// between returns the places on the great circle from one to another by the part of the way: along the chord, which
// keeps its digits however short it is, back onto the sphere.
func between(lat1, lng1, lat2, lng2 float64) func(f float64) (lat, lng float64) {
	a, b := vector(lat1, lng1), vector(lat2, lng2)
	square := 0.0
	for k := range a {
		square += (b[k] - a[k]) * (b[k] - a[k])
	}
	half := math.Asin(math.Sqrt(square) / 2) // of the angle between them
	return func(f float64) (lat, lng float64) {
		// The chord is cut where a place at that part of the angle is above it.
		part := (1 + math.Tan((2*f-1)*half)/math.Tan(half)) / 2
		var v [3]float64
		for k := range v {
			v[k] = a[k] + part*(b[k]-a[k])
		}
		return latlng(v)
	}
}

func decimal(t *rapid.T, text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
