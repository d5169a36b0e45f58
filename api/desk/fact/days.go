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
		begun := from.Begins(zone).Unix()
		if b.begins == 0 || begun < b.begins {
			b.begins = begun
		}
		for day := from; day <= to; day++ {
			ends := (day + 1).Begins(zone).Unix()
			if err := table.Append(name, int32(day), begun, ends); err != nil {
				return nil, err
			}
			begun = ends
		}
		b.ends = max(b.ends, begun)
	}
	return b, nil
}
