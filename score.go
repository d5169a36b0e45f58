package fleet

import "math"

// ScoreInput is what a vehicle or a driver has driven, and how, over any period.
type ScoreInput struct {
	Distance      float64 // m
	Driving       Millis  // time on the move
	Speeding      Millis  // of it above the limit, where a limit was known
	Braking       int     // harsh incidents
	Accelerations int
	Cornering     int
	Crashes       int
}

// ScoreDistance is the least distance in metres that a score can be made of: below it one incident decides everything.
const ScoreDistance = 10_000

// ScoreVersion names the formula of Score and its weights; it changes with either.
const ScoreVersion = "1"

// What a safety score loses by one incident in 100 km, and by each percent of the driving time spent above the limit.
const (
	ScorePerBraking      = 10.0
	ScorePerAcceleration = 8.0
	ScorePerCornering    = 8.0
	ScorePerCrash        = 100.0
	ScorePerSpeeding     = 1.0
)

// Score returns a safety score from 0 to 100, and whether there is one: below ScoreDistance there is not.
//
//	score = max(0, 100 - sum(points × incidents × 100 km / distance) - points × percent of the time above the limit)
//
// The form is the one that the trade publishes: a hundred less incidents by distance less the share of time above the
// limit (Samsara, "Safety Score Calculation": one point for an incident in 1,000 miles and one for a percent of the
// time; Powerfleet, "Driver Safety Score Calculation": incidents in 100 km by weight, none below 10 km). The weights
// are ours: braking is the sign of a gap too small and counts most of the harsh ones, a crash ten times as much. As it
// is linear, a score of many periods is that of their sums, never the mean of their scores.
func Score(in ScoreInput) (score float64, ok bool) {
	if !(in.Distance >= ScoreDistance) || math.IsInf(in.Distance, 1) {
		return 0, false
	}
	points := ScorePerBraking*float64(in.Braking) + ScorePerAcceleration*float64(in.Accelerations) +
		ScorePerCornering*float64(in.Cornering) + ScorePerCrash*float64(in.Crashes)
	loss := points * 100_000 / in.Distance
	if in.Driving > 0 {
		loss += ScorePerSpeeding * 100 * min(1, float64(in.Speeding)/float64(in.Driving))
	}
	return max(0, 100-loss), true
}
