package report

import "time"

// Span are days, both inclusive.
type Span struct{ From, Until time.Time }

// What a report may be compared with.
const (
	PreviousPeriod = "previous_period"
	PreviousYear   = "previous_year"
)

// Days is how many there are.
func (s Span) Days() int { return int(s.Until.Sub(s.From)/(24*time.Hour)) + 1 }

// Before is what a span is compared with. The previous period is as many months before, if the span is of whole
// months, else as many days. The previous year has the same dates; the 29th of February is compared with the 28th, and
// whole months are compared with whole ones.
func (s Span) Before(compare string) Span {
	if compare == PreviousYear {
		return Span{From: addMonths(s.From, -12, false), Until: addMonths(s.Until, -12, s.wholeMonths())}
	}
	if s.wholeMonths() {
		months := (s.Until.Year()-s.From.Year())*12 + int(s.Until.Month()-s.From.Month()) + 1
		return Span{From: addMonths(s.From, -months, false), Until: s.From.AddDate(0, 0, -1)}
	}
	return Span{From: s.From.AddDate(0, 0, -s.Days()), Until: s.From.AddDate(0, 0, -1)}
}

func (s Span) wholeMonths() bool { return s.From.Day() == 1 && s.Until.AddDate(0, 0, 1).Day() == 1 }

// addMonths gives the same day of another month, or the last one of it.
func addMonths(day time.Time, months int, last bool) time.Time {
	firstOf := time.Date(day.Year(), day.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	end := firstOf.AddDate(0, 1, -1).Day()
	if last || day.Day() > end {
		return firstOf.AddDate(0, 0, end-1)
	}
	return firstOf.AddDate(0, 0, day.Day()-1)
}

// Split gives the times of a group that the span has a part of, each as far as it lies in the span.
func (s Span) Split(group string) []Span {
	var all []Span
	for day := s.From; !day.After(s.Until); {
		next := following(group, first(group, day))
		part := Span{From: day, Until: next.AddDate(0, 0, -1)}
		if part.Until.After(s.Until) {
			part.Until = s.Until
		}
		all = append(all, part)
		day = next
	}
	return all
}

// first is the first day of the time that a day lies in. Weeks begin on Mondays.
func first(group string, day time.Time) time.Time {
	y, m, d := day.Date()
	switch group {
	case "week":
		d -= (int(day.Weekday()) + 6) % 7
	case "month":
		d = 1
	case "quarter":
		m, d = m-(m-1)%3, 1
	case "year":
		m, d = 1, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// following is the first day of the next time.
func following(group string, day time.Time) time.Time {
	switch group {
	case "week":
		return day.AddDate(0, 0, 7)
	case "month":
		return day.AddDate(0, 1, 0)
	case "quarter":
		return day.AddDate(0, 3, 0)
	case "year":
		return day.AddDate(1, 0, 0)
	}
	return day.AddDate(0, 0, 1)
}
