package query

import (
	"context"
	"fmt"

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
	rows, err := db.Query(ctx, schemas.Query("external_refs"),
		clickhouse.Named("account", uint64(account)), clickhouse.Named("system", system))
	if err != nil {
		return refs, fmt.Errorf("read external references: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, uniqueID, vehicleID, ref string
		var id uint64
		if err := rows.Scan(&kind, &id, &uniqueID, &vehicleID, &ref); err != nil {
			return refs, fmt.Errorf("read external references: %w", err)
		}
		if kind == "vehicle" {
			refs.Vehicles[ref] = fleet.VehicleID(id)
		} else {
			refs.Devices[ref] = DeviceRef{ID: fleet.DeviceID(id), UniqueID: uniqueID, VehicleID: vehicleID}
		}
	}
	if err := rows.Err(); err != nil {
		return refs, fmt.Errorf("read external references: %w", err)
	}
	return refs, nil
}
