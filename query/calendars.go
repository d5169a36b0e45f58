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

// Calendar is what is held of a vehicle, or was booked of a class without one.
type Calendar struct {
	ID      uint64
	OfClass bool
	Holds   []Hold // by From, also those that have lapsed
}

// EachCalendar hands over the calendars of an account that hold anything that ends after an instant, or is open: of
// these ids, or all with nil.
func EachCalendar(ctx context.Context, db driver.Conn, account fleet.AccountID, ids []uint64, since time.Time,
	take func(Calendar) error) error {
	narrowed, only := narrow(ids)
	return schemas.EachRow(ctx, db, "read calendars", schemas.Query("calendar_holds"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("narrowed", narrowed), clickhouse.Named("ids", only),
		clickhouse.Named("since", since.UnixMilli()),
	}, func(row schemas.Row) (err error) {
		var c Calendar
		if c.ID, c.Holds, err = scanHolds(row, &c.OfClass); err != nil {
			return err
		}
		return take(c)
	})
}

// narrow says whether ids narrow a question, and to which.
func narrow(ids []uint64) (uint8, []uint64) {
	if ids == nil {
		return 0, []uint64{}
	}
	return 1, append([]uint64{}, ids...)
}

// scanHolds reads a calendar, and what its row has more.
func scanHolds(row schemas.Row, more ...any) (id uint64, holds []Hold, err error) {
	var refs, begins, ends []string
	var froms, untils, expires []time.Time
	var open []bool
	columns := []any{&id, &refs, &froms, &untils, &expires, &begins, &ends, &open}
	if err := row.Scan(append(columns, more...)...); err != nil {
		return 0, nil, err
	}
	holds = make([]Hold, len(refs))
	for i := range refs {
		holds[i] = Hold{Ref: refs[i], From: froms[i].UTC(), Until: untils[i].UTC(), Begins: begins[i], Ends: ends[i],
			Open: open[i]}
		if expires[i].UnixMilli() != 0 {
			holds[i].Expires = expires[i].UTC()
		}
	}
	return id, holds, nil
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
	narrowed, only := narrow(ids)
	busy := map[uint64][]Hold{}
	err := schemas.EachRow(ctx, db, "read busy vehicles", schemas.Query("busy_vehicles"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", kind), clickhouse.Named("class", class),
		clickhouse.Named("narrowed", narrowed), clickhouse.Named("ids", only),
		clickhouse.Named("from", from.UnixMilli()), clickhouse.Named("until", until.UnixMilli()),
		clickhouse.Named("now", now.UnixMilli()),
	}, func(row schemas.Row) error {
		id, holds, err := scanHolds(row)
		if err != nil {
			return err
		}
		busy[id] = holds
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
