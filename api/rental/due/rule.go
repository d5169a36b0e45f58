// Package due says when maintenance is due. A schedule asks for a task every so many miles, days, months or engine
// hours, or on a fixed day; what comes first holds. Each time it is done ends a cycle and begins the next:
//
//	anchor ──interval──► point            stage:  upcoming ──► due_soon ──► due ──► overdue
//	   ▲                   │                            └────────┴──┬───────┴─────────┘
//	   └──next cycle── done or dismissed                    resolved │ dismissed
//
// A stage is the furthest that any of the conditions has come:
//
//	condition      due soon                      due             overdue
//	day            DueSoonDays before            on the day      from the next day on
//	miles, hours   DueSoonMi, -Hours before      at the point    a tenth of the interval beyond it
//
// A tenth is what is commonly granted in preventive maintenance: a service counts as done in time within 10 % of
// its interval. What is due soon, unless the schedule says so, is a tenth of the interval, at most 500 miles, 14
// days or 25 hours.
//
// The package is pure: days and readings in, points and stages out.
package due

import (
	"github.com/motorpool/fleet/api/record"
)

// Interval is one condition of a rule: every so many, and how far before is soon. Every is 0 for none.
type Interval struct {
	Every float64
	Soon  float64
}

// grace is how far beyond its point a meter is still due and not overdue.
func (i Interval) grace() float64 { return i.Every / 10 }

// Rule is when a task is due, as a schedule and its task say together.
type Rule struct {
	Mi      Interval
	Hours   Interval
	Days    int // every; 0 for none
	Months  int // every; 0 for none
	Soon    int // days before
	FixedOn Day // due on this day; with Days from this day on
	Fixed   bool
	Offsets []int // days before the forecast
}

// RuleOf puts a schedule and its task together: the intervals are the task's unless the schedule gives one,
// or a fixed day.
func RuleOf(s *record.MaintenanceScheduleFields, t *record.ServiceTask) Rule {
	mi, days, months, hours := s.EveryMi, s.EveryDays, s.EveryMonths, s.EveryHours
	if mi == nil && days == nil && months == nil && hours == nil && s.FixedDueOn == "" {
		mi, days, months, hours = t.EveryMi, t.EveryDays, t.EveryMonths, t.EveryHours
	}
	r := Rule{
		Mi: interval(mi, s.DueSoonMi, 500), Hours: interval(hours, s.DueSoonHours, 25),
		FixedOn: dayIn(s.FixedDueOn), Fixed: s.Repeat == RepeatFixed, Offsets: s.OffsetsDays,
	}
	if days != nil {
		r.Days = *days
	}
	if months != nil {
		r.Months = *months
	}
	r.Soon = 14
	if r.Days > 0 {
		r.Soon = min(r.Soon, r.Days/10)
	}
	if s.DueSoonDays != nil {
		r.Soon = *s.DueSoonDays
	}
	return r
}

// Ways to repeat.
const (
	RepeatFromCompletion = "from_completion" // the next cycle counts from when it was done
	RepeatFixed          = "fixed"           // the next cycle counts from when it was due
)

func interval(every, soon *int, most float64) Interval {
	if every == nil {
		return Interval{}
	}
	i := Interval{Every: float64(*every)}
	i.Soon = min(i.Every/10, most)
	if soon != nil {
		i.Soon = float64(*soon)
	}
	return i
}

// Empty says that the rule has no condition at all.
func (r *Rule) Empty() bool {
	return r.Once() && r.FixedOn == 0
}

// Once says that the rule has one cycle only: it is due on a day, and that is all.
func (r *Rule) Once() bool {
	return r.Mi.Every == 0 && r.Hours.Every == 0 && r.Days == 0 && r.Months == 0
}

// Anchor is where a cycle begins: when it was done last. What is not known is nil.
type Anchor struct {
	On    Day
	Mi    *float64
	Hours *float64
}

// AnchorOf reads the anchor of a record; nil is the empty one.
func AnchorOf(a *record.Anchor) Anchor {
	if a == nil {
		return Anchor{}
	}
	return Anchor{On: dayIn(a.On), Mi: a.Mi, Hours: a.Hours}
}

// Record writes the anchor as it is stored.
func (a Anchor) Record() *record.Anchor {
	return &record.Anchor{On: a.On.String(), Mi: a.Mi, Hours: a.Hours}
}

// Completed fills in what a begun cycle lacks: the day and the readings of now. So a schedule that does not say when it
// was done last counts from when it was made, and a meter that was not known then from when it is.
func (a Anchor) Completed(today Day, m Meters) Anchor {
	if a.On == 0 {
		a.On = today
	}
	if a.Mi == nil {
		a.Mi = copied(m.Mi)
	}
	if a.Hours == nil {
		a.Hours = copied(m.Hours)
	}
	return a
}

// copied keeps a reading of its own: the caller's may go on.
func copied(v *float64) *float64 {
	if v == nil {
		return nil
	}
	kept := *v
	return &kept
}

// Meters are what a vehicle's meters say. What is not known is nil, or a rate of 0.
type Meters struct {
	Mi          *float64
	MiOn        Day // of the reading
	MiPerDay    float64
	Hours       *float64
	HoursOn     Day
	HoursPerDay float64
}
