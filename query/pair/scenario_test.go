package pair_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/scenario"
	"github.com/motorpool/fleet/query/pair"
)

// TestScenarios answers what the stories in testdata ask. What stands behind "|" is the answer to the line above it.
//
//	A T LAT,LNG          a fix of one vehicle, B of the other; T is a time of day
//	near METRES [D]      when were they within so many metres, for as long as D at least
//	apart METRES [D]     when were they farther than that
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(s *scenario.Story) string {
		tracks := map[string][]pair.Fix{}
		var said []string
		fix := func(words []string) {
			at, err := time.Parse(time.TimeOnly, words[1])
			if err != nil {
				s.Fail("%v", err)
			}
			lat, lng := s.Place(words[2])
			midnight := at.Truncate(24 * time.Hour)
			tracks[words[0]] = append(tracks[words[0]], pair.Fix{At: fleet.Millis(at.Sub(midnight).Milliseconds()), Place: fleet.Place{Lat: lat, Lng: lng}})
		}
		ask := func(words []string) {
			q := pair.Question{Metres: s.Number(words[1]), Apart: words[0] == "apart"}
			if len(words) > 2 {
				q.For = s.Span(words[2])
			}
			for _, span := range pair.Spans(tracks["A"], tracks["B"], q) {
				said = append(said, fmt.Sprintf("%s-%s, %.0f m", clock(span.From), clock(span.To), span.Extreme))
			}
		}
		commands := scenario.Commands{"A": fix, "B": fix, "near": ask, "apart": ask}
		return s.Below("| ", commands, func(step func()) []string {
			said = nil
			step()
			return said
		})
	})
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
