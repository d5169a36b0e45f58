package pair_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/pair"
)

var update = flag.Bool("update", false, "write what the code does into testdata; review the difference")

// TestScenarios answers what the stories in testdata ask. What stands behind "|" is the answer to the line above it.
//
//	A T LAT,LNG          a fix of one vehicle, B of the other; T is a time of day
//	near METRES [D]      when were they within so many metres, for as long as D at least
//	apart METRES [D]     when were they farther than that
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := play(t, string(text))
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

func play(t *testing.T, text string) string {
	tracks := map[string][]pair.Fix{}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") {
			continue
		}
		lines = append(lines, line)
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] == "A" || words[0] == "B" {
			at, err := time.Parse(time.TimeOnly, words[1])
			lat, lng, _ := strings.Cut(words[2], ",")
			fix := pair.Fix{At: fleet.Millis(at.Sub(at.Truncate(24 * time.Hour)).Milliseconds()), Place: fleet.Place{Lat: number(t, lat), Lng: number(t, lng)}}
			if err != nil {
				t.Fatal(err)
			}
			tracks[words[0]] = append(tracks[words[0]], fix)
			continue
		}
		q := pair.Question{Metres: number(t, words[1]), Apart: words[0] == "apart"}
		if len(words) > 2 {
			d, err := time.ParseDuration(words[2])
			if err != nil {
				t.Fatal(err)
			}
			q.For = fleet.Millis(d.Milliseconds())
		}
		for _, s := range pair.Spans(tracks["A"], tracks["B"], q) {
			lines = append(lines, fmt.Sprintf("| %s-%s, %.0f m", clock(s.From), clock(s.To), s.Extreme))
		}
	}
	return strings.Join(lines, "\n")
}

func number(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func clock(at fleet.Millis) string { return at.Time().Format("15:04:05") }

// Against a sample of every second, whatever both do: near and apart agree with it, and one is what the other is not.
func TestSpansAgreeWithEverySecond(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		track := func() (all []pair.Fix) {
			at, lat, lng := fleet.Millis(1000), 30.0, -97.0
			for range 30 {
				all = append(all, pair.Fix{At: at, Place: fleet.Place{Lat: lat, Lng: lng}})
				at += 1000 * fleet.Millis(1+rng.IntN(290))
				lat, lng = lat+(rng.Float64()-0.5)*0.004, lng+(rng.Float64()-0.5)*0.004
			}
			return all
		}
		a, b := track(), track()
		near, apart := pair.Spans(a, b, pair.Question{Metres: 200}), pair.Spans(a, b, pair.Question{Metres: 200, Apart: true})
		for at := fleet.Millis(1000); at < min(a[29].At, b[29].At); at += 1000 {
			p, q := place(a, at), place(b, at)
			distance := fleet.Distance(p.Lat, p.Lng, q.Lat, q.Lng)
			if math.Abs(distance-200) < 2 {
				continue // the plane and a rounded millisecond
			}
			if holds(near, at) != (distance < 200) || holds(apart, at) != (distance > 200) {
				t.Fatalf("seed %d at %s: %.1f m, near %v, apart %v", seed, clock(at), distance, holds(near, at), holds(apart, at))
			}
		}
	}
}

func holds(spans []pair.Span, at fleet.Millis) bool {
	for _, s := range spans {
		if s.From <= at && at <= s.To {
			return true
		}
	}
	return false
}

// place finds where a track is at a time, by looking at all of it.
func place(track []pair.Fix, at fleet.Millis) fleet.Place {
	for i := 1; i < len(track); i++ {
		if x, y := track[i-1], track[i]; x.At <= at && at <= y.At {
			part := float64(at-x.At) / float64(y.At-x.At)
			return fleet.Place{Lat: x.Place.Lat + part*(y.Place.Lat-x.Place.Lat), Lng: x.Place.Lng + part*(y.Place.Lng-x.Place.Lng)}
		}
	}
	return fleet.Place{}
}
