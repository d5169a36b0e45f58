package driver

import (
	"cmp"
	"slices"

	"github.com/motorpool/fleet"
)

// Span is the time of [From, To).
type Span struct{ From, To fleet.Millis }

// Length is how long the span is.
func (s Span) Length() fleet.Millis { return s.To - s.From }

// Union returns the time that is in any of some spans: in order, without overlaps, neighbours joined.
func Union(spans []Span) []Span {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var all []Span
	for _, s := range sorted {
		switch n := len(all); {
		case s.To <= s.From:
		case n > 0 && s.From <= all[n-1].To:
			all[n-1].To = max(all[n-1].To, s.To)
		default:
			all = append(all, s)
		}
	}
	return all
}

// Within returns what of some spans lies in another.
func Within(spans []Span, whole Span) []Span {
	var all []Span
	for _, s := range spans {
		if s.From, s.To = max(s.From, whole.From), min(s.To, whole.To); s.To > s.From {
			all = append(all, s)
		}
	}
	return all
}

// Without returns what of some spans lies in none of others.
func Without(spans, others []Span) []Span {
	all := spans
	for _, o := range others {
		var left []Span
		for _, s := range all {
			for _, part := range [2]Span{{s.From, min(s.To, o.From)}, {max(s.From, o.To), s.To}} {
				if part.To > part.From {
					left = append(left, part)
				}
			}
		}
		all = left
	}
	return all
}

// Total is how long some spans are together.
func Total(spans []Span) (sum fleet.Millis) {
	for _, s := range spans {
		sum += s.Length()
	}
	return sum
}

// reached returns when spans in order come to a length together, and false if they do not come to more.
func reached(spans []Span, length fleet.Millis) (fleet.Millis, bool) {
	for _, s := range spans {
		if s.Length() > length {
			return s.From + length, true
		}
		length -= s.Length()
	}
	return 0, false
}

// Activity is what a driver does.
type Activity string

// The activities: on a trip, logged in while the vehicle is on none, and neither.
const (
	Driving Activity = "driving"
	Other   Activity = "other"
	Rest    Activity = "rest"
)

// Segment is a span of one activity.
type Segment struct {
	Span
	Activity Activity
}

// Segments fills a span with what a driver did in it: who drives two vehicles at once drives once, and a login within a
// trip is driving.
func Segments(driving, logins []Span, whole Span) []Segment {
	drive := Within(Union(driving), whole)
	login := Within(Union(logins), whole)
	edges := []fleet.Millis{whole.From, whole.To}
	for _, s := range slices.Concat(drive, login) {
		edges = append(edges, s.From, s.To)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var all []Segment
	for i := 1; i < len(edges); i++ {
		s := Segment{Span{edges[i-1], edges[i]}, Rest}
		for len(drive) > 0 && drive[0].To <= s.From {
			drive = drive[1:]
		}
		for len(login) > 0 && login[0].To <= s.From {
			login = login[1:]
		}
		switch {
		case len(drive) > 0 && drive[0].From <= s.From:
			s.Activity = Driving
		case len(login) > 0 && login[0].From <= s.From:
			s.Activity = Other
		}
		if n := len(all); n > 0 && all[n-1].Activity == s.Activity {
			all[n-1].To = s.To
		} else {
			all = append(all, s)
		}
	}
	return all
}

// of returns the spans of some activities.
func of(segments []Segment, wanted ...Activity) []Span {
	var all []Span
	for _, s := range segments {
		if slices.Contains(wanted, s.Activity) {
			all = append(all, s.Span)
		}
	}
	return all
}
