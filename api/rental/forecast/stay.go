package forecast

import (
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// Stay is when a booking is to have a vehicle, in milliseconds since 1970, and when that came onto the books.
type Stay struct {
	Begins, Ends int64
	Booked       ledger.Day
	Gone         bool
	Left         ledger.Day // the day on which it left the books, if it is gone
}

// Calendar is when the days of a series begin in a time zone, in milliseconds since 1970, and when the last one ends.
type Calendar []int64

// CalendarOf makes the calendar of so many days from first on. Days are of 23, 24 or 25 hours.
func CalendarOf(first ledger.Day, days int, zone *time.Location) Calendar {
	y, m, d := (first - 1).Time().Date()
	at := time.Date(y, m, d, 12, 0, 0, 0, zone)
	c := make(Calendar, 0, days+1)
	for range days + 1 {
		at = fleet.NextDay(at)
		c = append(c, at.UnixMilli())
	}
	return c
}

// dayAt is the place of the day that an instant is in, the first if it is before that, and their number if it is after
// the last one.
func (c Calendar) dayAt(at int64) int {
	const usual = 24 * 60 * 60 * 1000
	i := int(min(max(0, (at-c[0])/usual), int64(len(c)-1)))
	for i > 0 && c[i] > at {
		i--
	}
	for i < len(c)-1 && c[i+1] <= at {
		i++
	}
	return i
}

// Book puts a stay onto the books of the days that it lies in, in whole seconds of each.
func (s *Series) Book(c Calendar, stay Stay) {
	for i := c.dayAt(stay.Begins); i < len(s.Days) && c[i] < stay.Ends; i++ {
		seconds := (min(stay.Ends, c[i+1]) - max(stay.Begins, c[i])) / 1000
		day := s.First + ledger.Day(i)
		s.Days[i].Step(int(day-stay.Booked), seconds)
		if stay.Gone {
			s.Days[i].Step(int(day-stay.Left), -seconds)
		}
	}
}
