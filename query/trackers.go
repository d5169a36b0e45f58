package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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
func FindTrackers(ctx context.Context, db driver.Conn, account fleet.AccountID, uniqueIDs []string, ids []fleet.DeviceID) ([]Tracker, error) {
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

// Holders returns the devices in use that have one of the unique ids, whichever accounts' they are: for operators, who may know.
func Holders(ctx context.Context, db driver.Conn, uniqueIDs ...string) ([]Tracker, error) {
	return trackers(ctx, db, "devices_holding", clickhouse.Named("unique_ids", uniqueIDs))
}

func trackers(ctx context.Context, db driver.Conn, name string, args ...any) ([]Tracker, error) {
	rows, err := db.Query(ctx, schemas.Query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("find devices: %w", err)
	}
	defer rows.Close()
	var all []Tracker
	for rows.Next() {
		var t Tracker
		if err := t.scan(rows.Scan); err != nil {
			return nil, fmt.Errorf("find devices: %w", err)
		}
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find devices: %w", err)
	}
	return all, nil
}

// TrackerByUniqueID returns the device in use with a unique id, and false if there is none. It takes no account: the
// caller must not tell anybody what it found who has not proved to be the device.
func TrackerByUniqueID(ctx context.Context, db driver.Conn, uniqueID string) (Tracker, bool, error) {
	var t Tracker
	err := t.scan(db.QueryRow(ctx, schemas.Query("device_by_unique_id"), clickhouse.Named("unique_id", uniqueID)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return t, false, nil
	}
	if err != nil {
		return t, false, fmt.Errorf("find device: %w", err)
	}
	return t, true, nil
}

func (t *Tracker) scan(scan func(...any) error) error {
	var account, id uint64
	err := scan(&account, &id, &t.UniqueID, &t.TokenSHA256)
	t.Account, t.ID = fleet.AccountID(account), fleet.DeviceID(id)
	return err
}
