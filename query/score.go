package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DrivingSums is what the safety score of a vehicle or driver is made of, in a span: trips and driving events that began in
// it.
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
func VehicleSums(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis) ([]DrivingSums, error) {
	return sums(ctx, db, "score_vehicles", func(s *DrivingSums) any { return (*uint64)(&s.Vehicle) }, clickhouse.Named("account", uint64(account)),
		clickhouse.Named("vehicles", ids(vehicles)), clickhouse.Named("from", int64(max(from, 0))), clickhouse.Named("to", until(to)))
}

// DriverSums returns the sums of the drivers of an account, by driver as it was said (a name or the id of a customer). Trips
// without a driver, and driving events outside of trips, count for nobody.
func DriverSums(ctx context.Context, db driver.Conn, account fleet.AccountID, from, to fleet.Millis) ([]DrivingSums, error) {
	return sums(ctx, db, "score_drivers", func(s *DrivingSums) any { return &s.Driver }, clickhouse.Named("account", uint64(account)),
		clickhouse.Named("from", int64(max(from, 0))), clickhouse.Named("to", until(to)))
}

func sums(ctx context.Context, db driver.Conn, name string, key func(*DrivingSums) any, args ...any) ([]DrivingSums, error) {
	rows, err := db.Query(ctx, schemas.Query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer rows.Close()
	var all []DrivingSums
	for rows.Next() {
		var s DrivingSums
		if err := rows.Scan(key(&s), &s.Trips, &s.Distance, &s.Moving, &s.Braking, &s.Speedup, &s.Cornering, &s.Speeding, &s.Crashes, &s.Seconds); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return all, nil
}
