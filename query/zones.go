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

// ZoneNames are the names of the time zones that some vehicles have, and that of their account as of vehicle 0.
type ZoneNames map[fleet.VehicleID]string

// ReadZoneNames reads the names of the time zones that vehicles have now, and that of their account.
func ReadZoneNames(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []fleet.VehicleID) (ZoneNames, error) {
	named := ZoneNames{}
	err := schemas.EachRow(ctx, db, "read zones", schemas.Query("zones"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", ids(vehicles)),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var name string
		if err := row.Scan(&vehicle, &name); err != nil {
			return err
		}
		named[fleet.VehicleID(vehicle)] = name
		return nil
	})
	return named, err
}

// ZoneNamesOf tells the names of the time zones of some vehicles of an account.
type ZoneNamesOf func(vehicles []fleet.VehicleID) (ZoneNames, error)

// StoredZoneNames reads them in the store.
func StoredZoneNames(ctx context.Context, db driver.Conn, account fleet.AccountID) ZoneNamesOf {
	return func(vehicles []fleet.VehicleID) (ZoneNames, error) { return ReadZoneNames(ctx, db, account, vehicles) }
}

// zones returns the time zone of each vehicle, or else of its account.
func (named ZoneNames) zones() func(fleet.VehicleID) *time.Location {
	loaded := map[string]*time.Location{}
	return func(vehicle fleet.VehicleID) *time.Location {
		name := cmp.Or(named[vehicle], named[0])
		zone := loaded[name]
		if zone == nil {
			var err error
			if zone, err = ZoneNamed(name, time.UTC); err != nil {
				zone = time.UTC // as the pipeline does: it was checked when it was written
			}
			loaded[name] = zone
		}
		return zone
	}
}

// ZoneOf returns the time zone that a vehicle has now, or else its account.
func ZoneOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicle fleet.VehicleID) (*time.Location, error) {
	named, err := ReadZoneNames(ctx, db, account, []fleet.VehicleID{vehicle})
	if err != nil {
		return nil, err
	}
	return named.zones()(vehicle), nil
}

// localise tells the day of each thing: that of its start in the time zone that the vehicle has now, or else the
// account. The zone as it now stands is one rule for all rows, whenever they were written; another one needs nothing
// stored to be made again.
func localise[E fleet.Entity](all []Derived[E], names ZoneNamesOf) error {
	if len(all) == 0 {
		return nil
	}
	vehicles := make([]fleet.VehicleID, len(all))
	for i := range all {
		vehicles[i] = all[i].Vehicle
	}
	slices.Sort(vehicles)
	vehicles = slices.Compact(vehicles)
	named, err := names(vehicles)
	if err != nil {
		return err
	}
	zoneOf := named.zones()
	for i := range all {
		d := &all[i]
		y, m, day := d.Entity.Header().Start.Time().In(zoneOf(d.Vehicle)).Date()
		d.LocalDate = time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	}
	return nil
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
