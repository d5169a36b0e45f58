package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// LatestFilter says of which vehicles of an account the last known position is wanted. Its zero value but for Account
// and Box wants those of all.
type LatestFilter struct {
	Account  fleet.AccountID
	Vehicles []fleet.VehicleID // none means all
	Box      Box
	Near     *Near

	AfterDistance uint64          // of a page before: its last distance
	AfterVehicle  fleet.VehicleID // and its last vehicle
	Offset, Limit int
}

// Box is an area in degrees with its edges. West greater than East means that it crosses the antimeridian.
type Box struct{ West, South, East, North float64 }

// World is the box that holds everything.
var World = Box{West: -180, South: -90, East: 180, North: 90}

// Near is a circle: a place in degrees and a radius in metres, greater than 0.
type Near struct{ Lat, Lng, Radius float64 }

// Latest is the last known position of a vehicle.
type Latest struct {
	fleet.Position
	Distance uint64 // mm from the place of the filter's Near; 0 without one
}

func (f *LatestFilter) named(more ...any) []any {
	vehicles := make([]uint64, len(f.Vehicles))
	for i, v := range f.Vehicles {
		vehicles[i] = uint64(v)
	}
	near := Near{}
	if f.Near != nil {
		near = *f.Near
	}
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("west", fleet.StoredCoordinate(f.Box.West)),
		clickhouse.Named("east", fleet.StoredCoordinate(f.Box.East)),
		clickhouse.Named("south", fleet.StoredCoordinate(f.Box.South)),
		clickhouse.Named("north", fleet.StoredCoordinate(f.Box.North)), clickhouse.Named("lat", near.Lat),
		clickhouse.Named("lng", near.Lng), clickhouse.Named("radius", near.Radius),
		clickhouse.Named("earth", fleet.EarthRadius))
}

// LatestPositions returns the newest trusted position of each wanted vehicle that is not archived, ordered by distance
// and then vehicle.
func LatestPositions(ctx context.Context, db driver.Conn, f LatestFilter) (all []*Latest, err error) {
	err = EachLatest(ctx, db, f, func(l Latest) { all = append(all, &l) })
	return all, err
}

// EachLatest gives the positions that LatestPositions returns, one by one.
func EachLatest(ctx context.Context, db driver.Conn, f LatestFilter, each func(Latest)) error {
	latest := Latest{Position: fleet.Position{Account: f.Account}}
	var vehicle uint64
	var s positionScan
	args := f.named(clickhouse.Named("after_distance", f.AfterDistance),
		clickhouse.Named("after_vehicle", uint64(f.AfterVehicle)), clickhouse.Named("limit", uint64(f.Limit)),
		clickhouse.Named("offset", uint64(f.Offset)))
	return schemas.EachRow(ctx, db, "read latest positions", schemas.Query("positions_latest"), args,
		func(row schemas.Row) error {
			dest := append(append([]any{&vehicle}, s.into()...), &latest.Distance)
			if err := row.Scan(dest...); err != nil {
				return err
			}
			s.stored.Restore(&latest.Position)
			latest.Vehicle = fleet.VehicleID(vehicle)
			each(latest)
			return nil
		})
}

// CountLatest returns how many positions LatestPositions gives without cursor, offset and limit.
func CountLatest(ctx context.Context, db driver.Conn, f LatestFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query("positions_latest_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count latest positions: %w", err)
	}
	return int(n), nil
}
