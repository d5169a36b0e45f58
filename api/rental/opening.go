package rental

import (
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// Open says whether a place with these opening hours is open at an instant, given in its zone; without any it always
// is. Hours go by the clock on the wall, so that a night in which clocks are changed is an hour longer or shorter. They
// count to the minute, and the last one is in: who comes at 18:00 to a place that is open until 18:00 is in time. Hours
// that go past midnight are two entries, until 24:00 and from 00:00.
func Open(hours []record.OpenHours, at time.Time) bool {
	if len(hours) == 0 {
		return true
	}
	clock := at.Format("15:04")
	for i := range hours {
		h := &hours[i]
		if h.From <= clock && clock <= h.Until && opensOn(h, at) {
			return true
		}
		if clock == "00:00" && h.Until == "24:00" && opensOn(h, at.AddDate(0, 0, -1)) {
			return true
		}
	}
	return false
}

// opensOn says whether hours are of the weekday of an instant.
func opensOn(h *record.OpenHours, at time.Time) bool {
	return slices.Contains(h.Days, strings.ToLower(at.Format("Mon")))
}

// NextOpening is the first moment after an instant at which such a place, closed then, is open; zero if it never
// is. It opens when an entry says so, or when the clock jumps over that: of all such moments it is the first that
// finds it open.
func NextOpening(hours []record.OpenHours, at time.Time) time.Time {
	var next time.Time
	for day := range 15 { // two weeks: on the first of the days the clock may jump over the hours
		for i := range hours {
			var hour, minute int
			if from, err := time.Parse("15:04", hours[i].From); err == nil {
				hour, minute = from.Hour(), from.Minute()
			}
			start := time.Date(at.Year(), at.Month(), at.Day()+day, hour, minute, 0, 0, at.Location())
			before, after := start.ZoneBounds()
			_, offset := start.Zone()
			_, later := after.In(at.Location()).Zone()
			again := start.Add(time.Duration(offset-later) * time.Second) // the same hour, if the clock shows it twice
			for _, t := range []time.Time{start, again, before, after} {
				if t.After(at) && (next.IsZero() || t.Before(next)) && Open(hours, t.In(at.Location())) {
					next = t
				}
			}
		}
	}
	return next
}
