package query

import (
	"context"

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
	owners := map[string]Owner{}
	err := schemas.EachRow(ctx, db, "find owners of devices", schemas.Query("device_owners"), []any{
		clickhouse.Named("unique_ids", uniqueIDs),
	}, func(row schemas.Row) error {
		var uniqueID string
		var account uint64
		var kept bool
		if err := row.Scan(&uniqueID, &account, &kept); err != nil {
			return err
		}
		owners[uniqueID] = Owner{fleet.AccountID(account), kept}
		return nil
	})
	return owners, err
}
