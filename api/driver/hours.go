package driver

import (
	"time"

	"github.com/motorpool/fleet"
)

// Sums are how long a driver did what.
type Sums struct {
	Driving, Other, Rest fleet.Millis
}

// Stretch is driving without a break in between that counts.
type Stretch struct {
	Span
	Driving fleet.Millis
}

// Day is what a driver did on a local day, as far as it lies in the period.
type Day struct {
	Span
	Date string // 2026-03-29
	Sums
	Longest fleet.Millis // driving of the longest stretch that begins on it
	Breaks  []Span       // pauses in driving that begin on it, of at least leastBreak and shorter than a daily rest
}

// Report is what a driver did in a period.
type Report struct {
	Span
	Sums
	Overlap   fleet.Millis // driving of two vehicles at once, counted once above
	Days      []Day
	Stretches []Stretch
	Findings  []Finding
}

// leastBreak is how long a pause in driving is at least to be told as a break.
const leastBreak = 15 * minute

const (
	minute = fleet.Millis(60_000)
	hour   = 60 * minute
	day    = 24 * hour
)

// Lead is how long before a period what a driver did matters to the rules within it: two weeks that began before it.
const Lead = 21 * day

// Hours says what a driver did in a period, by days of a zone, and where it was more than the rules let. Driving and
// logins are of Lead before the period too.
func Hours(driving, logins []Span, period Span, zone *time.Location, rules Rules) Report {
	whole := Segments(driving, logins, Span{period.From - Lead, period.To})
	segments := cut(whole, period)
	r := Report{Span: period, Sums: sumsOf(segments),
		Overlap: Total(Within(driving, period)) - Total(of(segments, Driving))}
	stretches := rules.stretches(whole)
	for _, s := range stretches {
		if s.To > period.From && s.From < period.To {
			r.Stretches = append(r.Stretches, s)
		}
	}
	breaks := rules.breaks(whole)
	for _, d := range Days(period, zone) {
		d.Sums = sumsOf(cut(segments, d.Span))
		for _, s := range r.Stretches {
			if d.From <= s.From && s.From < d.To {
				d.Longest = max(d.Longest, s.Driving)
			}
		}
		for _, b := range breaks {
			if d.From <= b.From && b.From < d.To {
				d.Breaks = append(d.Breaks, b)
			}
		}
		r.Days = append(r.Days, d)
	}
	for _, f := range rules.check(whole, stretches, zone) {
		if period.From <= f.At && f.At < period.To {
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// Days cuts a period where the days of a zone begin. Where the clocks change a day has 23 or 25 hours.
func Days(period Span, zone *time.Location) []Day {
	var all []Day
	for at := period.From; at < period.To; {
		local := at.Time().In(zone)
		to := min(fleet.MillisOf(fleet.NextDay(local)), period.To)
		all = append(all, Day{Span: Span{at, to}, Date: local.Format(time.DateOnly)})
		at = to
	}
	return all
}

// cut returns what of segments lies in a span.
func cut(segments []Segment, whole Span) []Segment {
	var all []Segment
	for _, s := range segments {
		if s.From, s.To = max(s.From, whole.From), min(s.To, whole.To); s.To > s.From {
			all = append(all, s)
		}
	}
	return all
}

func sumsOf(segments []Segment) Sums {
	return Sums{Total(of(segments, Driving)), Total(of(segments, Other)), Total(of(segments, Rest))}
}
