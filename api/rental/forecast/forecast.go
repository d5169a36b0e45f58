// Package forecast says what is likely to be rented in the coming days, how that has worked in the past, and what
// follows for prices and vehicles. It is pure: the same history and the same day have the same answer.
//
// The model is one sentence. Of the time that was still free so many days before, on past days of the same weekday, a
// share was rented in the end; that share of what is free now is expected besides what is on the books:
//
//	share    = Σ weight × (rented − on the books) ÷ Σ weight × (rentable − on the books)
//	expected = on the books + share × (rentable − on the books)
//
// What was on the books so many days before is asked of the times at which bookings were confirmed and given up. Days
// of the same season weigh more than those of another, and newer ones more than older ones (weights). A class that has
// fewer than leastSamples days of that weekday is judged by those of the whole account, and with fewer than
// LeastHistory days nothing is said at all.
//
// Backtest says how far off this would have been in the last year, each forecast made of what was known then, beside
// the guess that a day is like the same weekday 52 weeks before. Advice takes its thresholds and says its inputs.
package forecast

import (
	"math"
	"sync"

	"github.com/motorpool/fleet/api/rental/ledger"
)

const (
	// Horizon is how many days are looked ahead.
	Horizon = 90
	// Earliest stands for all that came onto the books more than Horizon days before.
	Earliest = Horizon + 1
	// LeastHistory is how many past days must be known before anything is said.
	LeastHistory = 8 * week

	leastSamples = 8 // past days of one weekday
	week         = 7
	yearBefore   = 52 * week
	yearLong     = 365.25
)

// seasonHalf is how many days of the year apart halve what a past day counts, as each year of its age does.
const seasonHalf = 14

// Series is what the vehicles of a class had and will have, a day after the other.
type Series struct {
	Class uint64
	First ledger.Day
	Days  []Day
}

// Day is one local day of a class. Amounts are seconds.
type Day struct {
	Rented   int64 // of a past day
	Rentable int64 // as it was, or as it is planned
	Known    bool  // it is past, and what it had is known

	books [Earliest + 1]int64 // on the books so many days before
}

// NewSeries makes a series of so many days from first on, of which nothing is known.
func NewSeries(class uint64, first ledger.Day, days int) *Series {
	return &Series{Class: class, First: first, Days: make([]Day, days)}
}

// At returns a day, nil if it is outside.
func (s *Series) At(day ledger.Day) *Day {
	if day < s.First || int(day-s.First) >= len(s.Days) {
		return nil
	}
	return &s.Days[day-s.First]
}

// Step notes that so many seconds of the day came onto the books so many days before, or left them if they are
// negative.
func (d *Day) Step(lead int, seconds int64) {
	for i := range min(max(lead, 0), Earliest) + 1 {
		d.books[i] += seconds
	}
}

// OnBooks is what was on the books so many days before.
func (d *Day) OnBooks(lead int) int64 { return d.books[min(max(lead, 0), Earliest)] }

// free is what was left of the day so many days before.
func (d *Day) free(lead int) int64 { return max(0, d.Rentable-d.OnBooks(lead)) }

// Total is the series of all classes together. They must be of the same days.
func Total(all []*Series) *Series {
	if len(all) == 0 {
		return &Series{}
	}
	sum := NewSeries(0, all[0].First, len(all[0].Days))
	for _, s := range all {
		for i := range s.Days {
			from, to := &s.Days[i], &sum.Days[i]
			to.Rented += from.Rented
			to.Rentable += from.Rentable
			to.Known = to.Known || from.Known
			for lead, seconds := range from.books {
				to.books[lead] += seconds
			}
		}
	}
	return sum
}

// History is how much of the past a forecast is made of.
type History struct {
	From, To ledger.Day // the first and the last day that is known; 0 if none is
	Days     int        // that are known between them
}

// HistoryOf counts the days before today of which is known what was rentable.
func HistoryOf(total *Series, today ledger.Day) History {
	var h History
	for i := range total.Days {
		day := total.First + ledger.Day(i)
		if d := &total.Days[i]; day >= today || !d.Known || d.Rentable <= 0 {
			continue
		}
		if h.Days++; h.Days == 1 {
			h.From = day
		}
		h.To = day
	}
	return h
}

// Enough says whether anything may be said.
func (h History) Enough() bool { return h.Days >= LeastHistory }

// mostBack is how many days a past day may lie back; what is older counts as much as that.
const mostBack = 4000

// weights are how much days count that lie so many days back.
var weights = sync.OnceValue(func() []float64 {
	all := make([]float64, mostBack+1)
	for back := range all {
		years := float64(back) / yearLong
		apart := math.Abs(years-math.Round(years)) * yearLong // days of the year
		all[back] = math.Exp2(-apart/seasonHalf - years)
	}
	return all
})
