package fleet

import "math"

// SignalTest is what a rule asks of a signal's values, in the signal's own unit.
type SignalTest struct {
	Signal     Signal
	Is         string  // one of SignalTests
	Low, High  float64 // bounds: of above, below and equals both are the same; of changed Low is the least change
	Hysteresis float64 // by so much a value must have come back before it is over
}

// What a SignalTest asks.
const (
	SignalAbove   = "above"   // higher than the bound
	SignalBelow   = "below"   // lower than it
	SignalBetween = "between" // neither lower nor higher than the bounds
	SignalOutside = "outside" // lower or higher than they
	SignalEquals  = "equals"  // that value
	SignalChanged = "changed" // another than when it was told last
)

// SignalTests lists them.
var SignalTests = []string{SignalAbove, SignalBelow, SignalBetween, SignalOutside, SignalEquals, SignalChanged}

// hysteresis is by how much readings of a unit waver about one value.
var hysteresis = map[string]float64{
	"percent": 2, "°C": 1, "V": 0.3, "A": 2, "kW": 1, "kPa": 5, "m/s": 1, "1/min": 50, "°": 2, "l": 2, "l/h": 1, "g/s": 1,
	"dBm": 5, "m/s²": 0.5,
}

// Hysteresis returns by how much a value of the signal must have come back before an alert about it is over, unless the
// rule says otherwise.
func (s Signal) Hysteresis() float64 { return hysteresis[s.Spec().Unit] }

// Judge says whether a value is what the test asks for, and whether it is clearly not; with neither, it is in between.
// What has changed is for those to say who know the value before.
func (t *SignalTest) Judge(v float64) (holds, over bool) {
	switch t.Is {
	case SignalAbove:
		return v > t.High, v <= t.High-t.Hysteresis
	case SignalBelow:
		return v < t.Low, v >= t.Low+t.Hysteresis
	case SignalBetween:
		return t.Low <= v && v <= t.High, v < t.Low-t.Hysteresis || v > t.High+t.Hysteresis
	case SignalOutside:
		back := min(t.Hysteresis, (t.High-t.Low)/2)
		return v < t.Low || v > t.High, t.Low+back <= v && v <= t.High-back
	case SignalEquals:
		return v == t.Low, v != t.Low
	}
	return false, true
}

// Changed says whether a value is another than one before, by as much as the test asks.
func (t *SignalTest) Changed(before, v float64) bool {
	return v != before && math.Abs(v-before) >= t.Low
}

// Bound returns what an alert calls its threshold: the bound of a test that has one, else NaN.
func (t *SignalTest) Bound() float64 {
	switch t.Is {
	case SignalAbove, SignalBelow, SignalEquals:
		return t.Low
	}
	return math.NaN()
}

// Worse says whether of two values the first lies further beyond what the test bounds.
func (t *SignalTest) Worse(a, b float64) bool {
	switch t.Is {
	case SignalBelow:
		return a < b
	case SignalOutside:
		middle := (t.Low + t.High) / 2
		return math.Abs(a-middle) > math.Abs(b-middle)
	}
	return a > b
}

// SignalSet says of each signal whether it is meant.
type SignalSet [len(Signals)]bool
