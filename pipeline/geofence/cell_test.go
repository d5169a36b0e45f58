package geofence_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/query/area"
)

// TestCellIsThatOfTheLibrary looks everywhere, and about the corners and edges of cells most of all.
func TestCellIsThatOfTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	check := func(lat, lng float64) {
		t.Helper()
		if got, want := geofence.CellOf(lat, lng), area.CellOf(lat, lng); got != want {
			t.Fatalf("%v, %v: %x, want %x", lat, lng, got, want)
		}
	}
	n := 20_000
	if os.Getenv("MOTORPOOL_SOAK") != "" {
		n = 2_000_000
	}
	for range n {
		lat, lng := math.Asin(2*rng.Float64()-1)*180/math.Pi, rng.Float64()*360-180
		check(lat, lng)
		corners, err := h3.Cell(area.CellOf(lat, lng)).Boundary()
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range corners {
			b := corners[(i+1)%len(corners)]
			if math.Abs(a.Lng-b.Lng) > 1 {
				continue // over the antimeridian or a pole
			}
			way := rng.Float64()
			lat, lng := a.Lat+way*(b.Lat-a.Lat), a.Lng+way*(b.Lng-a.Lng)
			for _, off := range []float64{0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4} {
				check(lat+off*rng.NormFloat64(), lng+off*rng.NormFloat64())
			}
			check(fleet.Quantise(lat), fleet.Quantise(lng))
			check(a.Lat, a.Lng)
		}
	}
	// The edges and corners of the icosahedron's faces, where a fifth of them is twelve pentagons.
	for _, cell := range mustPentagons(t) {
		center, err := cell.LatLng()
		if err != nil {
			t.Fatal(err)
		}
		for range n / 10 {
			far := math.Pow(10, -6*rng.Float64()) * 40
			check(max(-90, min(90, center.Lat+far*rng.NormFloat64())), math.Remainder(center.Lng+far*rng.NormFloat64(), 360))
		}
	}
	for _, lat := range []float64{-90, 90, 0, 91, math.NaN(), math.Inf(1)} {
		for _, lng := range []float64{-180, 180, 0, 181, math.NaN()} {
			check(lat, lng)
		}
	}
}

func mustPentagons(t *testing.T) []h3.Cell {
	t.Helper()
	all, err := h3.Pentagons(fleet.CellResolution)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func BenchmarkCellOf(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 9))
	var lats, lngs [4096]float64
	for i := range lats {
		lats[i], lngs[i] = 48+rng.Float64()*0.2, 11+rng.Float64()*0.2
	}
	b.Run("here", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			geofence.CellOf(lats[i&4095], lngs[i&4095])
		}
	})
	b.Run("library", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			area.CellOf(lats[i&4095], lngs[i&4095])
		}
	})
}
