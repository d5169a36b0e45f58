package fleet_test

import (
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// Days begin at midnight, or where the clocks go otherwise as soon as the date is the next one.
func TestNextDayBeginsWhereMidnightIsMissing(t *testing.T) {
	for _, c := range []struct{ zone, at, want string }{
		{"UTC", "2026-02-28T12:00:00Z", "2026-03-01T00:00:00Z"},
		{"Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},    // a day of 23 hours
		{"America/Santiago", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"}, // begins at 01:00
		{"America/Santiago", "2026-09-06T03:30:00Z", "2026-09-06T04:00:00Z"},
		{"America/Santiago", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		{"America/Santiago", "2026-04-04T12:00:00Z", "2026-04-05T04:00:00Z"}, // 23:00 comes twice
		{"America/Havana", "2026-03-07T12:00:00Z", "2026-03-08T05:00:00Z"},
		{"America/Havana", "2026-10-31T12:00:00Z", "2026-11-01T04:00:00Z"}, // midnight comes twice
		{"Atlantic/Azores", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"Asia/Amman", "2021-10-28T12:00:00Z", "2021-10-28T21:00:00Z"},        // midnight comes twice
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", "2011-12-30T10:00:00Z"}, // 30 December is left out
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, c.at)
		if got := fleet.NextDay(at.In(zone)).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s: the day after %s begins at %s, want %s", c.zone, c.at, got, c.want)
		}
	}
}
