package area_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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
				t.Fatalf("%s from %v,%v to %v,%v: %v %v %v, want %v %v %v", text, lat1, lng1, lat2, lng2, e, x, got, enter, exit, ok)
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
