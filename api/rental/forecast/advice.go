package forecast

import "math"

// Thresholds say when a day is rather full or rather empty for what it costs. All are in percent.
type Thresholds struct {
	High float64 // from this occupancy on a day should not cost less than usual
	Low  float64 // up to this one it should not cost more
	Band float64 // a rate within so much of the usual one is the usual one
	Most float64 // by which a price is moved at most
}

// Usual are the thresholds that hold unless others are given.
var Usual = Thresholds{High: 85, Low: 40, Band: 10, Most: 20}

// What advice says of a rate.
const (
	TooLow  = "too_low"
	TooHigh = "too_high"
)

// leastMove is the least by which a price is moved, in percent.
const leastMove = 5

// Advice is what is said of the rate of a class on a day. Rates are minor units for a billed day.
type Advice struct {
	Verdict  string // TooLow or TooHigh; "" if there is nothing to say
	From, To int64  // the range that is suggested
}

// Advise says whether a rate is too low or too high for the occupancy that is expected. usual is what the class brings
// for such a day, rate what the day is sold for, 0 if nothing of it is sold yet, which is taken for the usual. What a
// day costs to run (cost) is never undercut.
//
// The fuller the day, the dearer: at High the price moves by leastMove, at 100 by Most, and in between in proportion;
// the range is from half of that to all of it. Below Low it is the same downwards. Nothing is said if the rate is there
// already: further than Band from the usual, on the right side.
func Advise(expectedPct float64, rate, usual, cost int64, t Thresholds) Advice {
	if usual <= 0 {
		return Advice{}
	}
	if rate <= 0 {
		rate = usual
	}
	from := 100 * (float64(rate)/float64(usual) - 1) // how far the rate is from the usual
	switch {
	case expectedPct >= t.High && from <= t.Band:
		move := moved(expectedPct-t.High, 100-t.High, t.Most)
		return Advice{Verdict: TooLow, From: part(usual, 10_000+move/2), To: part(usual, 10_000+move)}.beyond(rate)
	case expectedPct <= t.Low && from >= -t.Band:
		move := moved(t.Low-expectedPct, t.Low, t.Most)
		a := Advice{Verdict: TooHigh, From: part(usual, 10_000-move), To: part(usual, 10_000-move/2)}
		a.From, a.To = max(a.From, cost), max(a.To, cost)
		return a.beyond(rate)
	}
	return Advice{}
}

// beyond is the advice if its range lies on the other side of the rate, and none if the rate is in it or past it.
func (a Advice) beyond(rate int64) Advice {
	if a.Verdict == TooLow && rate >= a.From || a.Verdict == TooHigh && rate <= a.To {
		return Advice{}
	}
	return a
}

// moved is by how many basis points a price moves that is so far beyond a threshold, of so much that it can be.
func moved(beyond, reach, most float64) int64 {
	most = max(leastMove, most)
	if reach <= 0 {
		return int64(100 * most)
	}
	return int64(math.Round(100 * (leastMove + (most-leastMove)*min(1, beyond/reach))))
}

// part is so many basis points of an amount, rounded half up.
func part(amount, bp int64) int64 { return (amount*bp + 5_000) / 10_000 }

// Result is what a vehicle earned and cost in a span of days. Money is minor units; costs are positive, discounts and
// refunds are in Revenue.
type Result struct {
	BilledDays                                        int64
	Revenue, PlatformFees                             int64
	Energy, Maintenance, OtherVariable, TollRecharge  int64
	Depreciation, Finance, Insurance, OtherFixedCosts int64
}

// VariableCost is what driving costs.
func (r *Result) VariableCost() int64 {
	return r.Energy + r.Maintenance + r.OtherVariable - r.TollRecharge
}

// FixedCost is what having it costs.
func (r *Result) FixedCost() int64 {
	return r.Depreciation + r.Finance + r.Insurance + r.OtherFixedCosts
}

// Contribution is what is left of the revenue for what having it costs.
func (r *Result) Contribution() int64 { return r.Revenue - r.PlatformFees - r.VariableCost() }

// NetProfit is what is left in the end.
func (r *Result) NetProfit() int64 { return r.Contribution() - r.FixedCost() }

// BreakEvenDays is how many billed days, each contributing what the billed days did on average, would have paid for the
// fixed costs; false if no number of them would.
func (r *Result) BreakEvenDays() (int64, bool) {
	switch fixed, each := r.FixedCost(), r.Contribution(); {
	case fixed <= 0:
		return 0, true
	case r.BilledDays <= 0 || each <= 0:
		return 0, false
	default:
		return (fixed*r.BilledDays + each - 1) / each, true
	}
}
