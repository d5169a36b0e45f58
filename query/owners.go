package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Owner is the account that an operator gave a unique id to.
type Owner struct {
	Account fleet.AccountID
	Kept    bool // with what was kept apart before the account registered the device
}

// Owners returns whom operators gave unique ids to. Those that were given to nobody are not there.
func Owners(ctx context.Context, db driver.Conn, uniqueIDs ...string) (map[string]Owner, error) {
	rows, err := db.Query(ctx, schemas.Query("device_owners"), clickhouse.Named("unique_ids", uniqueIDs))
	if err != nil {
		return nil, fmt.Errorf("find owners of devices: %w", err)
	}
	defer rows.Close()
	owners := map[string]Owner{}
	for rows.Next() {
		var uniqueID string
		var account uint64
		var kept bool
		if err := rows.Scan(&uniqueID, &account, &kept); err != nil {
			return nil, fmt.Errorf("find owners of devices: %w", err)
		}
		owners[uniqueID] = Owner{fleet.AccountID(account), kept}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find owners of devices: %w", err)
	}
	return owners, nil
}
