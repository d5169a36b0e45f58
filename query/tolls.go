package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Tolls is how tolls and fines are listed.
var Tolls = Listing{Table: "tolls", Fields: []ListField{
	{Name: "kind", Type: TextField, Sort: true},
	{Name: "status", Type: TextField, Sort: true},
	{Name: "plate", Type: CodeField, Sort: true},
	{Name: "agency", Type: WordsField, Sort: true},
	{Name: "reference", Type: CodeField},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "currency", Type: TextField},
	{Name: "amount", Type: NumberField, Range: true, Sort: true},
	{Name: "occurred_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"plate", "agency", "reference"}, Related: []Related{ofVehicle, ofBooking}}

// VehiclesWithPlate returns the vehicles of an account that bore a number plate at an instant.
func VehiclesWithPlate(ctx context.Context, db driver.Conn, account fleet.AccountID, plate, region string,
	at fleet.Millis) ([]uint64, error) {
	return readIDs(ctx, db, "toll_vehicles", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("plate", plate), clickhouse.Named("region", region), clickhouse.Named("at", int64(at)))
}

// BookingsOut returns the bookings of an account that were out at an instant, and had a vehicle at some time.
func BookingsOut(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicle uint64,
	at fleet.Millis) ([]Stored, error) {
	return scanStored(ctx, db, "bookings of a toll", schemas.Query("toll_bookings"),
		clickhouse.Named("account", uint64(account)),
		clickhouse.Named("vehicle", fleet.FormatID(fleet.VehiclePrefix, vehicle)), clickhouse.Named("at", int64(at)))
}
