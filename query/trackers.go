package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Tracker is a device in use as intake needs to know it.
type Tracker struct {
	Account     fleet.AccountID
	ID          fleet.DeviceID
	UniqueID    string
	TokenSHA256 string // of its OsmAnd token, in hex; empty if it has none
}

// FindTrackers returns those of an account's devices in use that have one of the unique ids or ids.
func FindTrackers(ctx context.Context, db driver.Conn, account fleet.AccountID, uniqueIDs []string,
	ids []fleet.DeviceID) ([]Tracker, error) {
	keys := make([]uint64, len(ids))
	for i, id := range ids {
		keys[i] = uint64(id)
	}
	if uniqueIDs == nil {
		uniqueIDs = []string{} // a nil slice is no parameter
	}
	return trackers(ctx, db, "devices_find", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("unique_ids", uniqueIDs), clickhouse.Named("ids", keys))
}

// Holders returns the devices in use that have one of the unique ids, whichever accounts' they are: for
// operators, who may know.
func Holders(ctx context.Context, db driver.Conn, uniqueIDs ...string) ([]Tracker, error) {
	return trackers(ctx, db, "devices_holding", clickhouse.Named("unique_ids", uniqueIDs))
}

func trackers(ctx context.Context, db driver.Conn, name string, args ...any) ([]Tracker, error) {
	return schemas.AllRows(ctx, db, "find devices", schemas.Query(name), args, (*Tracker).scan)
}

// TrackerByUniqueID returns the device in use with a unique id, and false if there is none. It takes no account: the
// caller must not tell anybody what it found who has not proved to be the device.
func TrackerByUniqueID(ctx context.Context, db driver.Conn, uniqueID string) (Tracker, bool, error) {
	args := []any{clickhouse.Named("unique_id", uniqueID)}
	return schemas.OneRow(ctx, db, "find device", schemas.Query("device_by_unique_id"), args, (*Tracker).scan)
}

func (t *Tracker) scan(row schemas.Row) error {
	return row.Scan((*uint64)(&t.Account), (*uint64)(&t.ID), &t.UniqueID, &t.TokenSHA256)
}
