package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Trips is how trips are read.
var Trips = Derivable[*fleet.Trip]{Kind: fleet.KindTrip, table: "trips", fresh: func() *fleet.Trip { return new(fleet.Trip) }}

// Driven says that somebody drove a vehicle during [From, To); Driver is a name, the id of a customer, or empty if nobody
// is known.
type Driven struct {
	ID       uint64 // the highest of those that hold an instant is the one that counts
	Vehicle  fleet.VehicleID
	From, To fleet.Millis
	Driver   string
}

// DriversOf returns who drove some vehicles of an account at any time of [from, to], for DriverOf.
func DriversOf(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis) ([]Driven, error) {
	if len(vehicles) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, schemas.Query("trips_drivers"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("vehicles", ids(vehicles)), clickhouse.Named("from", int64(from)), clickhouse.Named("to", int64(to)))
	if err != nil {
		return nil, fmt.Errorf("read drivers: %w", err)
	}
	defer rows.Close()
	var all []Driven
	for rows.Next() {
		var d Driven
		var vehicle uint64
		var from, to int64
		if err := rows.Scan(&vehicle, &d.ID, &from, &to, &d.Driver); err != nil {
			return nil, fmt.Errorf("read drivers: %w", err)
		}
		d.Vehicle, d.From, d.To = fleet.VehicleID(vehicle), fleet.Millis(from), fleet.Millis(to)
		all = append(all, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read drivers: %w", err)
	}
	return all, nil
}

// DriverOf returns who of those DriversOf gave drove during a span: the newest that holds its middle or begins
// with it. Empty is nobody.
func DriverOf(all []Driven, vehicle fleet.VehicleID, start, end fleet.Millis) string {
	middle := start + (end-start)/2
	for i := range all { // by vehicle, the newest first
		if d := &all[i]; d.Vehicle == vehicle && (d.From == start || d.From <= middle && middle < d.To) {
			return d.Driver
		}
	}
	return ""
}
