package driver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

// Rules are limits of driving and rest. A limit of 0 does not hold. What they find is information: trips are not what a
// tachograph records.
type Rules struct {
	Continuous fleet.Millis    // driving without a break
	Break      fleet.Millis    // that ends continuous driving
	BreakParts [2]fleet.Millis // two that do so together, in this order; 0 for none
	OtherIsOff bool            // standing while logged in counts as a break, though not as a rest

	Daily      fleet.Millis // driving between two daily rests
	Extended   fleet.Millis // the same on so many days of a week
	Extensions int
	Weekly     fleet.Millis // driving in a week, Monday to Sunday
	Fortnight  fleet.Millis // driving in two weeks that follow each other

	Rest       fleet.Millis // within 24 hours of the beginning of a day's work
	Reduced    fleet.Millis // the same, so many times a week
	Reductions int
	Window     fleet.Millis // after the beginning of a day's work nobody drives after that
	Cycle      fleet.Millis // driving and other work in so many days
	CycleDays  int
}

// RuleSets are the rules by name. What they leave out: multi-manning, ferries, weekly rests and their compensation
// (EU); sleeper berths, short hauls, adverse conditions and the restart of 34 hours (US).
var RuleSets = map[string]Rules{
	"eu_561_2006": {
		Continuous: 4*hour + 30*minute, Break: 45 * minute, BreakParts: [2]fleet.Millis{15 * minute, 30 * minute},
		Daily: 9 * hour, Extended: 10 * hour, Extensions: 2, Weekly: 56 * hour, Fortnight: 90 * hour,
		Rest: 11 * hour, Reduced: 9 * hour, Reductions: 3,
	},
	"us_395_70_8": {
		Continuous: 8 * hour, Break: 30 * minute, OtherIsOff: true, Daily: 11 * hour, Reduced: 10 * hour, Window: 14 * hour,
		Cycle: 70 * hour, CycleDays: 8,
	},
	"us_395_60_7": {
		Continuous: 8 * hour, Break: 30 * minute, OtherIsOff: true, Daily: 11 * hour, Reduced: 10 * hour, Window: 14 * hour,
		Cycle: 60 * hour, CycleDays: 7,
	},
}

// Finding is a limit that was not kept.
type Finding struct {
	Rule          string
	At            fleet.Millis // from when on
	Limit, Actual fleet.Millis
}

// The rules of findings.
const (
	RuleContinuous = "continuous_driving"
	RuleDaily      = "daily_driving"
	RuleWeekly     = "weekly_driving"
	RuleFortnight  = "fortnightly_driving"
	RuleRest       = "daily_rest"
	RuleWindow     = "duty_window"
	RuleCycle      = "duty_cycle"
)

// pauses returns the pauses between driving that may count as breaks, in order.
func (r *Rules) pauses(segments []Segment) []Span {
	if r.OtherIsOff {
		return Union(of(segments, Other, Rest))
	}
	return of(segments, Rest)
}

// breaks returns the pauses of at least leastBreak that are no daily rest.
func (r *Rules) breaks(segments []Segment) []Span {
	return slices.DeleteFunc(slices.Clone(r.pauses(segments)), func(s Span) bool {
		return s.Length() < leastBreak || s.Length() >= r.apart()
	})
}

// apart is how long a rest is that ends a day's work.
func (r *Rules) apart() fleet.Millis {
	if least := cmp.Or(r.Reduced, r.Rest); least > 0 {
		return least
	}
	return 9 * hour
}

// stretches returns driving without breaks that count.
func (r *Rules) stretches(segments []Segment) []Stretch {
	var all []Stretch
	pauses, driving := r.pauses(segments), of(segments, Driving)
	open, half := false, false
	for _, d := range driving {
		for len(pauses) > 0 && pauses[0].To <= d.From {
			length := pauses[0].Length()
			pauses = pauses[1:]
			switch {
			case !open:
			case length >= max(r.Break, 1), half && length >= r.BreakParts[1]:
				open, half = false, false
			case r.BreakParts[0] > 0 && length >= r.BreakParts[0]:
				half = true
			}
		}
		if !open {
			all, open = append(all, Stretch{Span: d}), true
		}
		last := &all[len(all)-1]
		last.To, last.Driving = d.To, last.Driving+d.Length()
	}
	return all
}

// duty is a day's work: what lies between two daily rests.
type duty struct {
	Span
	driving []Span
	after   fleet.Millis // rest that follows; 0 if it goes on
}

func (r *Rules) duties(segments []Segment) []duty {
	var all []duty
	open := false
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s.Activity == Rest && (last || s.Length() >= r.apart()):
			if open {
				all[len(all)-1].after = s.Length()
				if last { // it goes on
					all[len(all)-1].after = max(s.Length(), day)
				}
			}
			open = false
			continue
		case s.Activity == Rest:
			continue
		case !open:
			all, open = append(all, duty{Span: s.Span}), true
		}
		work := &all[len(all)-1]
		work.To = s.To
		if s.Activity == Driving {
			work.driving = append(work.driving, s.Span)
		}
	}
	return all
}

// check returns all that was not kept, in order.
func (r *Rules) check(segments []Segment, stretches []Stretch, zone *time.Location) []Finding {
	var all []Finding
	driving := of(segments, Driving)
	over := func(rule string, spans []Span, limit fleet.Millis) {
		if at, ok := reached(spans, limit); ok && limit > 0 {
			all = append(all, Finding{rule, at, limit, Total(spans)})
		}
	}
	for _, s := range stretches {
		over(RuleContinuous, Within(driving, s.Span), r.Continuous)
	}
	extended, reduced := map[string]int{}, map[string]int{}
	for _, d := range r.duties(segments) {
		week, limit := weekOf(d.From, zone), r.Daily
		if drove := Total(d.driving); drove > r.Daily && extended[week] < r.Extensions {
			extended[week]++
			limit = r.Extended
		}
		over(RuleDaily, d.driving, limit)
		all = append(all, r.rested(d, week, reduced)...)
		if r.Window > 0 {
			if late := Within(d.driving, Span{d.From + r.Window, d.To}); late != nil {
				all = append(all, Finding{RuleWindow, late[0].From, r.Window, late[len(late)-1].To - d.From})
			}
		}
	}
	before := []Span(nil)
	for _, week := range weeks(segments, zone) {
		drove := Within(driving, week)
		over(RuleWeekly, drove, r.Weekly)
		if drove != nil {
			over(RuleFortnight, slices.Concat(before, drove), r.Fortnight)
		}
		before = drove
	}
	all = append(all, r.cycles(segments, zone)...)
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.At, b.At) })
	return all
}

// rested says whether the rest after a day's work is long enough within 24 hours of its beginning. What is not over yet
// is not judged.
func (r *Rules) rested(d duty, week string, reduced map[string]int) []Finding {
	if r.Rest == 0 || d.after == 0 {
		return nil
	}
	had := max(0, min(d.after, day-d.Length()))
	switch {
	case had >= r.Rest:
		return nil
	case had >= r.Reduced && reduced[week] < r.Reductions:
		reduced[week]++
		return nil
	case had >= r.Reduced:
		return []Finding{{RuleRest, d.To, r.Rest, had}}
	}
	return []Finding{{RuleRest, d.To, min(r.Rest, r.Reduced), had}}
}

// cycles finds the days at which the work of so many days was more than the cycle lets: the first of each run of days.
func (r *Rules) cycles(segments []Segment, zone *time.Location) (all []Finding) {
	if r.Cycle == 0 || len(segments) == 0 {
		return nil
	}
	work := Union(of(segments, Driving, Other))
	days := Days(Span{segments[0].From, segments[len(segments)-1].To}, zone)
	told := false
	for i := range days {
		spans := Within(work, Span{days[max(0, i+1-r.CycleDays)].From, days[i].To})
		at, over := reached(spans, r.Cycle)
		if over && !told {
			all = append(all, Finding{RuleCycle, at, r.Cycle, Total(spans)})
		}
		told = over
	}
	return all
}

// weekOf names the week of an instant, Monday to Sunday.
func weekOf(at fleet.Millis, zone *time.Location) string {
	year, week := at.Time().In(zone).ISOWeek()
	return fmt.Sprintf("%d-%02d", year, week)
}

// weeks cuts what segments fill into weeks.
func weeks(segments []Segment, zone *time.Location) (all []Span) {
	if len(segments) == 0 {
		return nil
	}
	name := ""
	for _, d := range Days(Span{segments[0].From, segments[len(segments)-1].To}, zone) {
		if week := weekOf(d.From, zone); week != name {
			all, name = append(all, d.Span), week
		}
		all[len(all)-1].To = d.To
	}
	return all
}
