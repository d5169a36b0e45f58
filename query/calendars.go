package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Hold is a period, half open, during which somebody has a vehicle.
type Hold struct {
	Ref         string // the holder: an id of a booking, a block or a work order
	From, Until time.Time
	Expires     time.Time // when it lapses by itself; zero for never
	Begins      string    // the location where the vehicle must be at From; empty for any
	Ends        string    // the location where it is left; empty for where it was
	Open        bool      // past its end it lasts until now
}

// HoldsAt returns those of the holds that BusyVehicles found for any time from an instant on which it would find at a
// later one.
func HoldsAt(holds []Hold, now time.Time) []Hold {
	var left []Hold
	for _, h := range holds {
		if h.Open && !h.Until.After(now) {
			h.Until = time.UnixMilli(now.UnixMilli() + 1).UTC()
		}
		if h.Until.UnixMilli() > now.UnixMilli() && (h.Expires.IsZero() || h.Expires.UnixMilli() > now.UnixMilli()) {
			left = append(left, h)
		}
	}
	return left
}

// BusyVehicles returns the holds that overlap [from, until), by vehicle; those that have lapsed at now do not count.
// It looks at the vehicles of a class, 0 for any, and, unless ids is nil, at these ids only. Vehicles that are free
// have no entry.
//
// It is for searches: that a vehicle is free here does not give it to anybody, calendar.Take does.
func BusyVehicles(ctx context.Context, db driver.Conn, account fleet.AccountID, class uint64, ids []uint64,
	from, until, now time.Time) (map[uint64][]Hold, error) {
	classID := ""
	if class != 0 {
		classID = fleet.FormatID(fleet.ClassPrefix, class)
	}
	return busy(ctx, db, account, "calendar", classID, ids, from, until, now)
}

// BookedClasses returns the bookings of classes without a vehicle that overlap [from, until), by class; those that have
// lapsed at now do not count. Unless ids is nil it looks at these classes only.
func BookedClasses(ctx context.Context, db driver.Conn, account fleet.AccountID, ids []uint64,
	from, until, now time.Time) (map[uint64][]Hold, error) {
	return busy(ctx, db, account, "class_calendar", "", ids, from, until, now)
}

func busy(ctx context.Context, db driver.Conn, account fleet.AccountID, kind, class string, ids []uint64,
	from, until, now time.Time) (map[uint64][]Hold, error) {
	narrowed, only := uint8(0), []uint64{}
	if ids != nil {
		narrowed, only = 1, append(only, ids...)
	}
	busy := map[uint64][]Hold{}
	err := schemas.EachRow(ctx, db, "read busy vehicles", schemas.Query("busy_vehicles"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", kind), clickhouse.Named("class", class),
		clickhouse.Named("narrowed", narrowed), clickhouse.Named("ids", only),
		clickhouse.Named("from", from.UnixMilli()), clickhouse.Named("until", until.UnixMilli()),
		clickhouse.Named("now", now.UnixMilli()),
	}, func(row schemas.Row) error {
		var id uint64
		var refs, begins, ends []string
		var froms, untils, expires []time.Time
		var open []bool
		if err := row.Scan(&id, &refs, &froms, &untils, &expires, &begins, &ends, &open); err != nil {
			return err
		}
		for i := range refs {
			h := Hold{Ref: refs[i], From: froms[i].UTC(), Until: untils[i].UTC(), Begins: begins[i], Ends: ends[i],
				Open: open[i]}
			if expires[i].UnixMilli() != 0 {
				h.Expires = expires[i].UTC()
			}
			busy[id] = append(busy[id], h)
		}
		return nil
	})
	return busy, err
}

// RentableVehicles returns the vehicles that can be rented, now or after what is being done to them: of some classes,
// by their ids as text, or of any and of none if classes is nil.
func RentableVehicles(ctx context.Context, db driver.Conn, account fleet.AccountID,
	classes []string) ([]Stored, error) {
	narrowed := uint8(0)
	if classes != nil {
		narrowed = 1
	}
	return scanStored(ctx, db, "rentable vehicles", schemas.Query("rentable_vehicles"),
		clickhouse.Named("account", uint64(account)), clickhouse.Named("narrowed", narrowed),
		clickhouse.Named("classes", append([]string{}, classes...)))
}
