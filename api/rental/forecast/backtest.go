package forecast

import (
	"math"

	"github.com/motorpool/fleet/api/rental/ledger"
)

// Backtest is how far off forecasts would have been in the last year, each made on one day of each week of what was
// known then. What was rentable is taken as it came to be.
type Backtest struct {
	From, To ledger.Day // the first and the last day that was forecast; 0 if none could be
	Origins  int        // days on which forecasts were made
	Classes  []Error    // a forecast for each class and day
	Account  []Error    // a forecast for all classes together and day

	Full, Empty Calls // of classes and days, by the thresholds
}

// Calls is how often a day was called full or empty, and how often that was right.
type Calls struct {
	Called, Right int // forecasts that said so, and those of them where it came to be
	Came, Of      int // how often it came to be, of all forecasts: what Right of Called would be by chance
}

func (c *Calls) add(called, came bool) {
	c.Of++
	if came {
		c.Came++
	}
	if called {
		c.Called++
		if came {
			c.Right++
		}
	}
}

// Error is how far off forecasts were that were made so many days before. In points of percent of the rentable time.
type Error struct {
	FromDays, ToDays int
	Forecasts        int
	MAE              float64 // mean of the absolute errors
	Bias             float64 // mean of the errors: positive if too much was expected

	// Where the same weekday 52 weeks before is known, the guess that the day is like that one, beside the forecast.
	Compared    int
	MAECompared float64
	NaiveMAE    float64
	NaiveBias   float64
}

// spans are the spans of days ahead for which errors are told apart.
var spans = [][2]int{{1, 7}, {8, 30}, {31, 60}, {61, Horizon}}

// Test makes the backtest of what is known on the morning of today. Days are called full and empty by the thresholds.
func Test(all []*Series, total *Series, today ledger.Day, t Thresholds) Backtest {
	h := HistoryOf(total, today)
	b := Backtest{}
	classes, account := make([]errorSum, len(spans)), make([]errorSum, len(spans))
	if h.Enough() {
		for origin := max(h.From+LeastHistory, today-yearBefore); origin < today-1; origin += week {
			b.Origins++
			for lead := 1; lead <= Horizon && origin+ledger.Day(lead) < today; lead++ {
				day := origin + ledger.Day(lead)
				if b.tested(all, total, day, origin, t, &classes[spanOf(lead)], &account[spanOf(lead)]) {
					if b.From == 0 || day < b.From {
						b.From = day
					}
					b.To = max(b.To, day)
				}
			}
		}
	}
	for i, span := range spans {
		b.Classes = append(b.Classes, classes[i].means(span))
		b.Account = append(b.Account, account[i].means(span))
	}
	return b
}

// tested forecasts one day of every class and holds it against what came; false if none of them was known.
func (b *Backtest) tested(all []*Series, total *Series, day, origin ledger.Day, t Thresholds,
	classes, account *errorSum) bool {
	var expected, rented, rentable int64
	for _, s := range all {
		d := s.At(day)
		if d == nil || !d.Known || d.Rentable <= 0 {
			continue
		}
		e := Expect(s, total, day, origin)
		if e.Samples == 0 {
			continue
		}
		classes.add(e.Rented, d, s.At(day-yearBefore))
		said, came := 100*float64(e.Rented)/float64(d.Rentable), 100*float64(d.Rented)/float64(d.Rentable)
		b.Full.add(said >= t.High, came >= t.High)
		b.Empty.add(said <= t.Low, came <= t.Low)
		expected, rented, rentable = expected+e.Rented, rented+d.Rented, rentable+d.Rentable
	}
	if rentable == 0 {
		return false
	}
	account.add(expected, &Day{Rented: rented, Rentable: rentable}, total.At(day-yearBefore))
	return true
}

func spanOf(lead int) int {
	for i, span := range spans {
		if lead <= span[1] {
			return i
		}
	}
	return len(spans) - 1
}

// errorSum sums up errors.
type errorSum struct {
	n, compared                           int
	abs, sum, absBeside, naiveAbs, naives float64
}

// add adds what was expected of a day, and what it was a year before, which may be nil.
func (s *errorSum) add(expected int64, d, before *Day) {
	off := 100 * float64(expected-d.Rented) / float64(d.Rentable)
	s.n++
	s.abs += math.Abs(off)
	s.sum += off
	if before == nil || !before.Known || before.Rentable <= 0 {
		return
	}
	naive := 100 * (float64(before.Rented)/float64(before.Rentable) - float64(d.Rented)/float64(d.Rentable))
	s.compared++
	s.absBeside += math.Abs(off)
	s.naiveAbs += math.Abs(naive)
	s.naives += naive
}

func (s *errorSum) means(span [2]int) Error {
	e := Error{FromDays: span[0], ToDays: span[1], Forecasts: s.n, Compared: s.compared}
	if s.n > 0 {
		e.MAE, e.Bias = Tenth(s.abs/float64(s.n)), Tenth(s.sum/float64(s.n))
	}
	if n := float64(s.compared); n > 0 {
		e.MAECompared, e.NaiveMAE, e.NaiveBias = Tenth(s.absBeside/n), Tenth(s.naiveAbs/n), Tenth(s.naives/n)
	}
	return e
}

// Off is the mean absolute error of forecasts that are made so many days before; false if there is none.
func Off(errors []Error, lead int) (float64, bool) {
	e := errors[spanOf(lead)]
	return e.MAE, e.Forecasts > 0
}
