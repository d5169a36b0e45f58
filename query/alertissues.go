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

// AlertsForIssues returns the alerts of all accounts that began since a time and were raised by rules that want an issue opened for each, the
// oldest first.
func AlertsForIssues(ctx context.Context, db driver.Conn, since time.Time) ([]VehicleAlert, error) {
	rows, err := db.Query(ctx, schemas.Query("alerts_for_issues"), clickhouse.Named("since", since.UnixMilli()))
	if err != nil {
		return nil, fmt.Errorf("find alerts that want an issue: %w", err)
	}
	defer rows.Close()
	var all []VehicleAlert
	for rows.Next() {
		var a VehicleAlert
		var account, vehicle, id uint64
		var body string
		if err := rows.Scan(&account, &vehicle, &id, &body); err != nil {
			return nil, fmt.Errorf("find alerts that want an issue: %w", err)
		}
		if err := json.Unmarshal([]byte(body), &a.Alert); err != nil {
			return nil, fmt.Errorf("decode alert %d: %w", id, err)
		}
		a.VehicleKey, a.ID = fleet.VehicleKey{Account: fleet.AccountID(account), Vehicle: fleet.VehicleID(vehicle)}, id
		all = append(all, a)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find alerts that want an issue: %w", err)
	}
	return all, nil
}
