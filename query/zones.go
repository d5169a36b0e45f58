package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// localise tells the day of each thing: that of its start in the time zone that the vehicle has now, or else the
// account. The zone as it now stands is one rule for all rows, whenever they were written; another one needs nothing
// stored to be made again.
func localise[E fleet.Entity](ctx context.Context, db driver.Conn, account fleet.AccountID, all []Derived[E]) error {
	if len(all) == 0 {
		return nil
	}
	vehicles := make([]fleet.VehicleID, len(all))
	for i := range all {
		vehicles[i] = all[i].Vehicle
	}
	zoneOf, err := zonesOf(ctx, db, account, vehicles)
	if err != nil {
		return err
	}
	date(all, zoneOf)
	return nil
}

// date tells the day of each thing by the zone of its vehicle.
func date[E fleet.Entity](all []Derived[E], zoneOf func(fleet.VehicleID) *time.Location) {
	for i := range all {
		d := &all[i]
		y, m, day := d.Entity.Header().Start.Time().In(zoneOf(d.Vehicle)).Date()
		d.LocalDate = time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	}
}

// ZoneOf returns the time zone that a vehicle has now, or else its account.
func ZoneOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicle fleet.VehicleID) (*time.Location, error) {
	zoneOf, err := zonesOf(ctx, db, account, []fleet.VehicleID{vehicle})
	if err != nil {
		return nil, err
	}
	return zoneOf(vehicle), nil
}

// zonesOf reads the time zones that vehicles have now, or else their account.
func zonesOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []fleet.VehicleID) (func(fleet.VehicleID) *time.Location, error) {
	wanted := slices.Clone(ids(vehicles))
	slices.Sort(wanted)
	named := map[uint64]string{}
	err := schemas.EachRow(ctx, db, "read zones", schemas.Query("zones"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", slices.Compact(wanted)),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var name string
		if err := row.Scan(&vehicle, &name); err != nil {
			return err
		}
		named[vehicle] = name
		return nil
	})
	loaded := map[string]*time.Location{}
	return func(vehicle fleet.VehicleID) *time.Location {
		name := cmp.Or(named[uint64(vehicle)], named[0])
		zone := loaded[name]
		if zone == nil {
			var err error
			if zone, err = ZoneNamed(name, time.UTC); err != nil {
				zone = time.UTC // as the pipeline does: it was checked when it was written
			}
			loaded[name] = zone
		}
		return zone
	}, err
}

// ZoneNamed returns a time zone, and fallback for no name.
func ZoneNamed(name string, fallback *time.Location) (*time.Location, error) {
	if name == "" {
		return fallback, nil
	}
	if name == "Local" {
		return nil, fmt.Errorf("there is no time zone %s", name)
	}
	return time.LoadLocation(name)
}
