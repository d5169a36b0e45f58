package query

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// VehicleAlert is an alert, and whose it is.
type VehicleAlert struct {
	fleet.VehicleKey
	fleet.Alert
}

// AlertsForIssues returns the alerts of all accounts that began since a time and were raised by rules that want an
// issue opened for each, the oldest first.
func AlertsForIssues(ctx context.Context, db driver.Conn, since time.Time) ([]VehicleAlert, error) {
	return schemas.AllRows(ctx, db, "find alerts that want an issue", schemas.Query("alerts_for_issues"), []any{
		clickhouse.Named("since", since.UnixMilli()),
	}, func(a *VehicleAlert, row schemas.Row) error {
		var account, vehicle, id uint64
		var body string
		if err := row.Scan(&account, &vehicle, &id, &body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &a.Alert); err != nil {
			return fmt.Errorf("decode alert %d: %w", id, err)
		}
		a.VehicleKey, a.ID = fleet.VehicleKey{Account: fleet.AccountID(account), Vehicle: fleet.VehicleID(vehicle)}, id
		return nil
	})
}
