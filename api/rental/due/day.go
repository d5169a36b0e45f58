package due

import (
	"fmt"
	"time"

	"github.com/motorpool/fleet/api/rental/ledger"
)

// Day is a local date, counted from 1970-01-01. It has no hours, so that a day on which clocks change is a day like any
// other. The zero value stands for no day.
type Day int32

// layout is how dates are written.
const layout = "2006-01-02"

// DayOf returns the date that it is at an instant in a zone.
func DayOf(at time.Time, zone *time.Location) Day {
	y, m, d := at.In(zone).Date()
	return dayOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

func dayOf(midnight time.Time) Day { return Day(midnight.Unix() / (24 * 60 * 60)) }

// ParseDay reads a date as callers write it; "" is no day.
func ParseDay(text string) (Day, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a date of the form YYYY-MM-DD", text)
	}
	return dayOf(t), nil
}

// dayIn reads a date of a stored record, which was held against its format when it was written.
func dayIn(text string) Day {
	d, err := ParseDay(text)
	if err != nil {
		return 0
	}
	return d
}

// String writes the date, "" for no day.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return time.Unix(int64(d)*24*60*60, 0).UTC().Format(layout)
}

// earliest returns the earlier of two days, of which either may be no day.
func earliest(a, b Day) Day {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// addMonths returns the same day of a later month, or the last of that month if it is shorter.
func (d Day) addMonths(n int) Day {
	return Day(ledger.Day(d).AddMonths(n))
}

// Start returns when the day begins in a zone.
func (d Day) Start(zone *time.Location) time.Time {
	return ledger.Day(d).Begins(zone)
}
