package forecast

import (
	"math"

	"github.com/motorpool/fleet/api/rental/ledger"
)

// Expected is what is expected of a day. Amounts are seconds.
type Expected struct {
	Rentable int64
	OnBooks  int64
	Rented   int64   // expected in the end; as OnBooks if Samples is 0
	Share    float64 // of what is free that is expected to be rented; negative where cancellations outweigh
	Samples  int     // past days that it is made of; 0 if there are too few
	Pooled   bool    // they are those of the whole account, not of the class
}

// Expect says what is expected of a day of a class by what is known on the morning of origin: the days before it, and
// what is on the books on it. total stands in where the class has too few days of that weekday.
func Expect(class, total *Series, day, origin ledger.Day) Expected {
	d, lead := class.At(day), int(day-origin)
	if d == nil || lead < 0 {
		return Expected{}
	}
	e := Expected{Rentable: d.Rentable, OnBooks: d.OnBooks(lead)}
	e.Share, e.Samples = share(class, day, origin)
	if e.Samples < leastSamples {
		e.Share, e.Samples = share(total, day, origin)
		e.Pooled = true
	}
	if e.Samples < leastSamples {
		return Expected{Rentable: e.Rentable, OnBooks: e.OnBooks, Rented: min(e.OnBooks, e.Rentable)}
	}
	rented := float64(e.OnBooks) + e.Share*float64(d.free(lead))
	e.Rented = min(max(0, int64(math.Round(rented))), d.Rentable)
	return e
}

// share is the share of what was free that was rented in the end, on days of the same weekday before origin, and of how
// many days that is.
func share(s *Series, day, origin ledger.Day) (float64, int) {
	lead := int(day - origin)
	last := min(origin-1, s.First+ledger.Day(len(s.Days))-1)
	if last < s.First {
		return 0, 0
	}
	weights := weights()
	var won, free float64
	n := 0
	for past := day - (day-last+week-1)/week*week; past >= s.First; past -= week {
		d := &s.Days[past-s.First]
		if !d.Known || d.Rentable <= 0 {
			continue
		}
		n++
		left := d.free(lead)
		if left == 0 {
			continue // nothing could be won, whatever it weighs
		}
		w := weights[min(day-past, mostBack)]
		won += w * float64(min(d.Rented, d.Rentable)-d.OnBooks(lead))
		free += w * float64(left)
	}
	if free == 0 {
		return 0, n
	}
	return won / free, n
}

// Pct is a share of the rentable time in percent, to a tenth; false if nothing is rentable.
func Pct(seconds, rentable int64) (float64, bool) {
	if rentable <= 0 {
		return 0, false
	}
	return Tenth(100 * float64(seconds) / float64(rentable)), true
}

// Tenth rounds to a tenth.
func Tenth(v float64) float64 { return math.Round(v*10) / 10 }
