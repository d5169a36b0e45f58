package ledger

import (
	"encoding/json"
	"time"

	"github.com/motorpool/fleet"
)

// Day is a local date, as the number of days since 1970-01-01; it may lie before. Zero, that very day,
// stands for no day.
type Day int32

const secondsPerDay = 24 * 60 * 60

// DayOf returns the local date of an instant; 0 for the zero time.
func DayOf(t time.Time, zone *time.Location) Day {
	if t.IsZero() {
		return 0
	}
	y, m, d := t.In(zone).Date()
	return civil(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

// ParseDay reads a date as 2026-11-21.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, err
	}
	return civil(t), nil
}

// dayOr reads a date, or returns another where there is none.
func dayOr(text string, other Day) Day {
	if day, err := ParseDay(text); err == nil {
		return day
	}
	return other
}

func civil(midnight time.Time) Day { return Day(midnight.Unix() / secondsPerDay) }

// Time is the midnight in UTC with which the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Begins is the first moment of the day in a zone: midnight, or what comes instead of it where the clocks are changed
// then.
func (d Day) Begins(zone *time.Location) time.Time {
	y, m, day := d.Time().Date()
	at := time.Date(y, m, day, 0, 0, 0, 0, zone)
	before := func(t time.Time) bool { return DayOf(t, zone) < d }
	if !before(at) && before(at.Add(-time.Second)) {
		return at
	}
	from, to := d.Time().Add(-20*time.Hour).Unix(), d.Time().Add(20*time.Hour).Unix()
	for from+1 < to { // before holds at from, and not at to
		if middle := (from + to) / 2; before(time.Unix(middle, 0)) {
			from = middle
		} else {
			to = middle
		}
	}
	return time.Unix(to, 0).In(zone)
}

// Month is the first day of the month that the day is in, so many months later.
func (d Day) Month(later int) Day {
	y, m, _ := d.Time().Date()
	return civil(time.Date(y, m+time.Month(later), 1, 0, 0, 0, 0, time.UTC))
}

// AddMonths is the same day of the month so many months later, or the last of that month if it has no such day.
func (d Day) AddMonths(n int) Day { return min(d.Month(n)+d-d.Month(0), d.Month(n+1)-1) }

func (d Day) String() string { return d.Time().Format(time.DateOnly) }

// MarshalJSON implements json.Marshaler.
func (d Day) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Day) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	day, err := ParseDay(s)
	*d = day
	return err
}

// ZoneOf returns the zone of a name, or another where there is no such zone.
func ZoneOf(name string, other *time.Location) *time.Location {
	if name == "" {
		return other
	}
	zone, err := fleet.Zone(name)
	if err != nil {
		return other
	}
	return zone
}
