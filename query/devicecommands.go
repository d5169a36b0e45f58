package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DeviceCommands is how commands to trackers are listed.
var DeviceCommands = Listing{Table: "device_commands", Fields: []ListField{
	{Name: "device_id", Type: TextField, Few: true},
	{Name: "vehicle_id", Type: TextField},
	{Name: "status", Type: TextField},
	{Name: "type", Type: TextField},
	{Name: "transport", Type: TextField},
	{Name: "requested_by", Type: TextField},
	{Name: "expires_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// DueCommand names a command to a tracker.
type DueCommand struct {
	Account fleet.AccountID
	ID      uint64
}

// DueRequest says which commands are due.
type DueRequest struct {
	Now     time.Time
	Stuck   time.Time // what somebody began to send then or before is due
	Waiting []uint64  // are not due, unless they expired
	Limit   int
	Share   int // of Limit, that one account may have
}

// DueCommands returns the commands of all accounts with which something is to be done now: to be sent, expired, or
// begun to be sent at Stuck or before. Accounts take turns, and of each comes first what has waited the longest.
func DueCommands(ctx context.Context, db driver.Conn, r DueRequest) ([]DueCommand, error) {
	args := []any{
		clickhouse.Named("now", r.Now.UnixMilli()), clickhouse.Named("stuck", r.Stuck.UnixMilli()),
		clickhouse.Named("limit", uint64(r.Limit)), clickhouse.Named("share", uint64(r.Share)),
		clickhouse.Named("waiting", r.Waiting),
	}
	return schemas.AllRows(ctx, db, "find commands to trackers that are due", schemas.Query("device_commands_due"), args,
		func(v *DueCommand, row schemas.Row) error {
			var account, id uint64
			if err := row.Scan(&account, &id); err != nil {
				return err
			}
			*v = DueCommand{fleet.AccountID(account), id}
			return nil
		})
}
