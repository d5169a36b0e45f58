package fleet_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

func TestScore(t *testing.T) {
	for name, c := range map[string]struct {
		in   fleet.ScoreInput
		want float64
	}{
		"nothing happened":                {fleet.ScoreInput{Distance: 500_000, Driving: 20_000_000}, 100},
		"one harsh braking in 100 km":     {fleet.ScoreInput{Distance: 100_000, Braking: 1}, 90},
		"the same on ten times the way":   {fleet.ScoreInput{Distance: 1_000_000, Braking: 1}, 99},
		"acceleration and cornering":      {fleet.ScoreInput{Distance: 200_000, Accelerations: 1, Cornering: 1}, 92},
		"a tenth of the time too fast":    {fleet.ScoreInput{Distance: 100_000, Driving: 3_600_000, Speeding: 360_000}, 90},
		"a crash in 500 km":               {fleet.ScoreInput{Distance: 500_000, Crashes: 1}, 80},
		"no score is below nothing":       {fleet.ScoreInput{Distance: 10_000, Crashes: 3}, 0},
		"more speeding than driving is 1": {fleet.ScoreInput{Distance: 100_000, Driving: 10, Speeding: 20}, 0},
	} {
		if got, ok := fleet.Score(c.in); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", name, got, ok, c.want)
		}
	}
	for _, distance := range []float64{0, 9_999, -1, math.NaN(), math.Inf(1)} {
		if _, ok := fleet.Score(fleet.ScoreInput{Distance: distance}); ok {
			t.Errorf("there is a score of %v m", distance)
		}
	}
}

// Whoever drives worse on the same way never scores better.
func TestScoreNeverRewardsAnIncident(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := fleet.ScoreInput{
			Distance: rapid.Float64Range(fleet.ScoreDistance, 1e9).Draw(t, "distance"),
			Driving:  fleet.Millis(rapid.Int64Range(1, 1e10).Draw(t, "driving")),
			Braking:  rapid.IntRange(0, 50).Draw(t, "braking"),
			Crashes:  rapid.IntRange(0, 2).Draw(t, "crashes"),
		}
		in.Speeding = fleet.Millis(rapid.Int64Range(0, int64(in.Driving)).Draw(t, "speeding"))
		before, _ := fleet.Score(in)
		worse := in
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			worse.Braking++
		case 1:
			worse.Accelerations++
		case 2:
			worse.Cornering++
		case 3:
			worse.Crashes++
		case 4:
			worse.Speeding = in.Driving
		}
		after, _ := fleet.Score(worse)
		if after > before || after < 0 || before > 100 {
			t.Fatalf("%v, then %v", before, after)
		}
	})
}
