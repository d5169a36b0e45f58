package fact

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"github.com/motorpool/fleet/api/rental/ledger"
)

// The days of which facts may be made: what is written with a date beyond them is a typing error.
const (
	yearsBack  = 30
	yearsAhead = ledger.MaxDays/365 + 1
)

// begins is the first moment of a day in a zone: midnight, or what comes instead of it where the clocks
// are changed then.
func begins(day ledger.Day, zone *time.Location) time.Time {
	y, m, d := day.Time().Date()
	at := time.Date(y, m, d, 0, 0, 0, 0, zone)
	before := func(t time.Time) bool { return ledger.DayOf(t, zone) < day }
	if !before(at) && before(at.Add(-time.Second)) {
		return at
	}
	from, to := day.Time().Add(-20*time.Hour).Unix(), day.Time().Add(20*time.Hour).Unix()
	for from+1 < to { // before holds at from, and not at to
		if middle := (from + to) / 2; before(time.Unix(middle, 0)) {
			from = middle
		} else {
			to = middle
		}
	}
	return time.Unix(to, 0)
}

// bounds are the local days of some zones, by the names that records have for them.
type bounds struct {
	from, to     ledger.Day
	begins, ends int64 // of all of them
	table        *ext.Table
}

// boundsOf makes the bounds of the days of zones from one day to another; "" is the account's zone.
func boundsOf(zones map[string]*time.Location, from, to ledger.Day) (*bounds, error) {
	table, err := ext.NewTable("bounds", ext.Column("zone", "String"), ext.Column("day", "Int32"),
		ext.Column("begins", "Int64"), ext.Column("ends", "Int64"))
	if err != nil {
		return nil, err
	}
	b := &bounds{from: from, to: to, table: table}
	for name, zone := range zones {
		begun := begins(from, zone).Unix()
		if b.begins == 0 || begun < b.begins {
			b.begins = begun
		}
		for day := from; day <= to; day++ {
			ends := begins(day+1, zone).Unix()
			if err := table.Append(name, int32(day), begun, ends); err != nil {
				return nil, err
			}
			begun = ends
		}
		b.ends = max(b.ends, begun)
	}
	return b, nil
}

// month is the first day of the month that a day is in, so many months later.
func month(day ledger.Day, later int) ledger.Day {
	y, m, _ := day.Time().Date()
	return ledger.DayOf(time.Date(y, m+time.Month(later), 1, 0, 0, 0, 0, time.UTC), time.UTC)
}
