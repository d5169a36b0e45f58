package export

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

func TestSimplifyKeepsCornersOnly(t *testing.T) {
	// East for 11 fixes over the antimeridian, then north for 11, with metres of noise on the way.
	var track []fleet.Position
	for i := range 11 {
		track = append(track, fleet.Position{FixTime: fleet.Millis(1000 + i), Lat: -16.5 + float64(i%2)*1e-5,
			Lng: wrap(179.95 + float64(i)*0.01)})
	}
	for i := range 10 {
		track = append(track,
			fleet.Position{FixTime: fleet.Millis(2000 + i), Lat: -16.49 + float64(i)*0.01, Lng: wrap(180.05)})
	}
	got := Simplify(append([]fleet.Position(nil), track...), 10, 0)
	var times []fleet.Millis
	for _, p := range got {
		times = append(times, p.FixTime)
	}
	if len(times) != 3 || times[0] != 1000 || times[1] != 1010 || times[2] != 2009 {
		t.Errorf("kept %v", times)
	}
	if got := Simplify(append([]fleet.Position(nil), track...), 0, 5); len(got) != 5 || got[0].FixTime != 1000 ||
		got[4].FixTime != 2009 {
		t.Errorf("kept %d", len(got))
	}
}

func wrap(lng float64) float64 { return math.Remainder(lng, 360) }

func TestSimplifyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		tolerance := rapid.SampledFrom([]float64{0, 1, 100, 1e5}).Draw(t, "tolerance")
		keep := rapid.IntRange(0, 20).Draw(t, "keep")
		track := make([]fleet.Position, n)
		for i := range track {
			// A coarse grid, so that the vehicle comes back to the same places often.
			track[i] = fleet.Position{FixTime: fleet.Millis(i + 1), Lat: float64(rapid.IntRange(-3, 3).Draw(t, "lat")) / 1000,
				Lng: wrap(180 + float64(rapid.IntRange(-3, 3).Draw(t, "lng"))/1000)}
		}
		before := append([]fleet.Position(nil), track...)
		got := Simplify(track, tolerance, keep)
		if n > 0 && (len(got) == 0 || got[0] != before[0] || got[len(got)-1] != before[n-1]) {
			t.Fatalf("ends lost: %v of %v", got, before)
		}
		if keep > 0 && len(got) > max(keep, 2) {
			t.Fatalf("%d positions, asked for %d", len(got), keep)
		}
		if tolerance == 0 && (keep == 0 || keep >= n) && len(got) != n {
			t.Fatalf("%d of %d positions though nothing was asked for", len(got), n)
		}
		for i := 1; i < len(got); i++ {
			if got[i].FixTime <= got[i-1].FixTime || got[i] != before[got[i].FixTime-1] {
				t.Fatalf("not a part of the track in order: %v", got)
			}
		}
		if tolerance > 0 && keep == 0 && len(got) > 0 {
			// What was left out is near the line through what stays.
			line, kept := flatten(before), 0
			full := flatten(before)
			for i := range before {
				for kept+1 < len(got) && got[kept+1].FixTime <= before[i].FixTime {
					kept++
				}
				if kept+1 == len(got) {
					break
				}
				a, b := full[got[kept].FixTime-1], full[got[kept+1].FixTime-1]
				if d := segment(line[i], a, b); d > tolerance+1e-6 {
					t.Fatalf("position %d is %v m off with a tolerance of %v", i, d, tolerance)
				}
			}
		}
	})
}

func segment(p, a, b [2]float64) float64 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	f := 0.0
	if l := dx*dx + dy*dy; l > 0 {
		f = math.Max(0, math.Min(1, ((p[0]-a[0])*dx+(p[1]-a[1])*dy)/l))
	}
	return math.Hypot(p[0]-a[0]-f*dx, p[1]-a[1]-f*dy)
}
