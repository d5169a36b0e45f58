package query

import (
	"context"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Heard is when something was last heard of a device or vehicle. Of its zero value nothing ever was.
type Heard struct {
	At       fleet.Millis
	Online   bool
	Interval time.Duration // in which it reports, in whole minutes; 0 if it has not been learnt
	Within   time.Duration // silence for longer than that is offline
	Until    fleet.Millis  // the last instant at which it is online if nothing comes
}

// Now is what was read before as it stands at a later instant of the same hour, if nothing came.
func (h Heard) Now(now time.Time) Heard {
	h.Online = h.At != 0 && now.UnixMilli() <= int64(h.Until)
	return h
}

// DevicesHeard returns when devices of an account were last heard of: of some, or of all with none given. Those of
// which nothing ever came are left out.
func DevicesHeard(ctx context.Context, db driver.Conn, account fleet.AccountID, devices []uint64,
	now time.Time) (map[uint64]Heard, error) {
	return heardOf(ctx, db, "device", heardArgs(account, devices, nil, now))
}

// VehiclesHeard is DevicesHeard of vehicles: what came from any device while it was on the vehicle. Interval and Within
// are those of the device that was heard of last.
func VehiclesHeard(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]Heard, error) {
	devices := []uint64{}
	err := schemas.EachRow(ctx, db, "read heard_on", schemas.Query("heard_on"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", append([]uint64{}, vehicles...)),
	}, func(row schemas.Row) error { return row.Scan(&devices) })
	if err != nil || len(devices) == 0 {
		return nil, err
	}
	return heardOf(ctx, db, "vehicle", heardArgs(account, devices, vehicles, now))
}

func heardArgs(account fleet.AccountID, devices, vehicles []uint64, now time.Time) []any {
	return []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("heard_now", now.UnixMilli()),
		clickhouse.Named("heard_devices", append([]uint64{}, devices...)),
		clickhouse.Named("heard_vehicles", append([]uint64{}, vehicles...))}
}

// heardText is the query of what was heard, by device or vehicle.
func heardText(by string) string {
	return strings.ReplaceAll(schemas.Query("heard_of"), "/*by*/", by)
}

func heardOf(ctx context.Context, db driver.Conn, by string, args []any) (map[uint64]Heard, error) {
	all := map[uint64]Heard{}
	err := schemas.EachRow(ctx, db, "read what was heard", heardText(by), args, func(row schemas.Row) error {
		var id uint64
		var at, until time.Time
		var online uint8
		var interval, within int64
		if err := row.Scan(&id, &at, &online, &interval, &within, &until); err != nil {
			return err
		}
		all[id] = Heard{At: fleet.MillisOf(at), Online: online != 0, Interval: time.Duration(interval) * time.Second,
			Within: time.Duration(within) * time.Second, Until: fleet.MillisOf(until)}
		return nil
	})
	return all, err
}
