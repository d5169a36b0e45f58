package price

import (
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// The policies of what a day is.
const (
	calendarDay = "calendar_day"
	hours24     = "24h"
	hours24Late = "24h_with_grace"
)

// MaxDays is how many days a rental can have.
const MaxDays = 3660

// rounding is what the terms call a day.
func rounding(t *record.RatePlanTerms) string {
	if t.DayRounding == "" {
		return hours24Late
	}
	return t.DayRounding
}

// graceOf is how much longer than so many days a rental may be.
func graceOf(t *record.RatePlanTerms) time.Duration {
	switch {
	case rounding(t) != hours24Late:
		return 0
	case t.GraceMinutes == nil:
		return 29 * time.Minute
	default:
		return time.Duration(*t.GraceMinutes) * time.Minute
	}
}

// BilledDays is how many days are billed from pickup to return: at least one.
func BilledDays(terms *record.RatePlanTerms, zone *time.Location, pickup, ret time.Time) int {
	pickup, ret = pickup.In(zone), ret.In(zone)
	if rounding(terms) == calendarDay {
		last := civil(ret)
		if last.Equal(last.Truncate(24 * time.Hour)) {
			last = last.Add(-1) // a return at midnight does not touch the new day
		}
		return max(1, int(last.Truncate(24*time.Hour).Sub(civil(pickup).Truncate(24*time.Hour))/(24*time.Hour))+1)
	}
	grace := graceOf(terms)
	days := max(1, int(civil(ret).Sub(civil(pickup))/(24*time.Hour))-1)
	for ret.After(sameTime(pickup, days).Add(grace)) {
		days++
	}
	return days
}

// civil is what a clock on the wall shows, as if it were UTC: the difference of two of them is what people count.
func civil(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// sameTime is when the clock on the wall shows the same time so many days later. Of two such moments, where clocks go
// back, it is the later; where they go forward over that time it is as much later as they went.
func sameTime(t time.Time, days int) time.Time {
	wall := civil(t).AddDate(0, 0, days)
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(),
		wall.Nanosecond(), t.Location())
	_, before := near.Add(-12 * time.Hour).Zone()
	_, after := near.Add(12 * time.Hour).Zone()
	first, second := wall.Add(-time.Duration(before)*time.Second).In(t.Location()),
		wall.Add(-time.Duration(after)*time.Second).In(t.Location())
	if first.Before(second) {
		first, second = second, first
	}
	if !civil(first).Equal(wall) && civil(second).Equal(wall) {
		return second
	}
	return first
}

// dateOf is the local date of the day so many days after that of t.
func dateOf(t time.Time, zone *time.Location, days int) time.Time {
	return civil(t.In(zone)).Truncate(24*time.Hour).AddDate(0, 0, days)
}

// daysFor is BilledDays for a request that may be wrong.
func daysFor(req *Request) (int, error) {
	pickup, ret := req.PickupAt.Time, req.ReturnAt.Time
	if !pickup.Before(ret) {
		return 0, fault("/return_at", "out_of_range", "must be after pickup_at")
	}
	if ret.Sub(pickup) > (MaxDays-2)*24*time.Hour {
		return 0, fault("/return_at", "out_of_range", "is too long after pickup_at")
	}
	return BilledDays(&req.Terms, req.Zone, pickup, ret), nil
}

// fault is an error about one member of what was asked.
func fault(pointer, code, detail string) error {
	return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
}
