package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DrivingSums is what the safety score of a vehicle or driver is made of, in a span: trips and driving events
// that began in it.
type DrivingSums struct {
	Vehicle fleet.VehicleID // one of the two is given
	Driver  string

	Trips     uint64
	Distance  float64 // m
	Moving    float64 // s
	Braking   uint64  // harsh
	Speedup   uint64  // harsh acceleration
	Cornering uint64  // harsh
	Speeding  uint64  // spans
	Crashes   uint64
	Seconds   float64 // of speeding
}

// VehicleSums returns the sums of some vehicles of an account, or of all if none is named, by vehicle; one that did not
// drive in [from, to) has none.
func VehicleSums(
	ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis,
) ([]DrivingSums, error) {
	return sums(ctx, db, "score_vehicles", func(s *DrivingSums) any { return (*uint64)(&s.Vehicle) },
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", ids(vehicles)),
		clickhouse.Named("from", int64(max(from, 0))),
		clickhouse.Named("to", until(to)))
}

// Note is a driving event as the scores of drivers count it.
type Note struct {
	Vehicle fleet.VehicleID
	At      fleet.Millis
	What    string
	Seconds float64 // that it lasted
}

// Notes returns the driving events of an account that began in [from, to), by vehicle and time.
func Notes(ctx context.Context, db driver.Conn, account fleet.AccountID, from, to fleet.Millis) ([]Note, error) {
	return schemas.AllRows(ctx, db, "read driving events", schemas.Query("score_drivers"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("from", int64(max(from, 0))),
		clickhouse.Named("to", until(to)),
	}, func(n *Note, row schemas.Row) error {
		return row.Scan((*uint64)(&n.Vehicle), (*int64)(&n.At), &n.What, &n.Seconds)
	})
}

// Add counts a driving event.
func (s *DrivingSums) Add(n *Note) {
	switch n.What {
	case fleet.HarshBraking:
		s.Braking++
	case fleet.HarshAcceleration:
		s.Speedup++
	case fleet.HarshCornering:
		s.Cornering++
	case fleet.Crash:
		s.Crashes++
	case fleet.Speeding:
		s.Speeding++
		s.Seconds += n.Seconds
	}
}

func sums(
	ctx context.Context, db driver.Conn, name string, key func(*DrivingSums) any, args ...any,
) ([]DrivingSums, error) {
	return schemas.AllRows(ctx, db, "read "+name, schemas.Query(name), args,
		func(s *DrivingSums, row schemas.Row) error {
			return row.Scan(key(s), &s.Trips, &s.Distance, &s.Moving, &s.Braking, &s.Speedup, &s.Cornering, &s.Speeding,
				&s.Crashes, &s.Seconds)
		})
}
