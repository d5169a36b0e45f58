package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Refs are the vehicles and devices of an account that carry a name of one other system, by that name.
type Refs struct {
	Vehicles map[string]fleet.VehicleID
	Devices  map[string]DeviceRef
}

// DeviceRef is a device as its own identifier and ours. VehicleID is the vehicle that it is on until further notice,
// written as ids are, or empty.
type DeviceRef struct {
	ID        fleet.DeviceID
	UniqueID  string
	VehicleID string
}

// ExternalRefs returns what of an account carries a name of a system. Archived records do not count.
func ExternalRefs(ctx context.Context, db driver.Conn, account fleet.AccountID, system string) (Refs, error) {
	refs := Refs{Vehicles: make(map[string]fleet.VehicleID), Devices: make(map[string]DeviceRef)}
	err := schemas.EachRow(ctx, db, "read external references", schemas.Query("external_refs"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("system", system),
	}, func(row schemas.Row) error {
		var kind, uniqueID, vehicleID, ref string
		var id uint64
		if err := row.Scan(&kind, &id, &uniqueID, &vehicleID, &ref); err != nil {
			return err
		}
		if kind == "vehicle" {
			refs.Vehicles[ref] = fleet.VehicleID(id)
		} else {
			refs.Devices[ref] = DeviceRef{ID: fleet.DeviceID(id), UniqueID: uniqueID, VehicleID: vehicleID}
		}
		return nil
	})
	return refs, err
}
