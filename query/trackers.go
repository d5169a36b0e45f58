package query

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Tracker is a device in use as intake needs to know it.
type Tracker struct {
	Account     fleet.AccountID
	ID          fleet.DeviceID
	Revision    uint64 // of its record
	UniqueID    string
	TokenSHA256 string // of its OsmAnd token, in hex; empty if it has none
}

// TrackerName is by what somebody names a device of an account: its unique id, or its id.
type TrackerName struct {
	Account  fleet.AccountID
	UniqueID string
	ID       fleet.DeviceID
}

// FindTrackers returns the devices in use that have some names, by these: each is of the account that its name is of.
func FindTrackers(ctx context.Context, db driver.Conn, names ...TrackerName) (map[TrackerName]Tracker, error) {
	accounts, uniqueIDs, keys := []uint64{}, []string{}, []uint64{} // a nil slice is no parameter
	wanted := make(map[TrackerName]bool, len(names))
	for _, name := range names {
		wanted[name] = true
		accounts = append(accounts, uint64(name.Account))
		if name.ID != 0 {
			keys = append(keys, uint64(name.ID))
		} else {
			uniqueIDs = append(uniqueIDs, name.UniqueID)
		}
	}
	slices.Sort(accounts)
	all, err := trackers(ctx, db, "devices_find", clickhouse.Named("accounts", slices.Compact(accounts)),
		clickhouse.Named("unique_ids", uniqueIDs), clickhouse.Named("ids", keys))
	found := make(map[TrackerName]Tracker, len(all))
	for _, t := range all {
		for _, name := range []TrackerName{{Account: t.Account, ID: t.ID}, {Account: t.Account, UniqueID: t.UniqueID}} {
			if wanted[name] {
				found[name] = t
			}
		}
	}
	return found, err
}

// Holders returns the devices in use that have one of the unique ids, whichever accounts' they are: for
// operators, who may know.
func Holders(ctx context.Context, db driver.Conn, uniqueIDs ...string) ([]Tracker, error) {
	return trackers(ctx, db, "devices_holding", clickhouse.Named("unique_ids", uniqueIDs))
}

func trackers(ctx context.Context, db driver.Conn, name string, args ...any) ([]Tracker, error) {
	return schemas.AllRows(ctx, db, "find devices", schemas.Query(name), args, (*Tracker).scan)
}

// TrackersByUniqueID returns the devices in use with some unique ids, by these. It takes no account: the caller must
// not tell anybody what it found who has not proved to be the device.
func TrackersByUniqueID(ctx context.Context, db driver.Conn, uniqueIDs ...string) (map[string]Tracker, error) {
	all, err := trackers(ctx, db, "devices_by_unique_id", clickhouse.Named("unique_ids", uniqueIDs))
	found := make(map[string]Tracker, len(all))
	for _, t := range all {
		found[t.UniqueID] = t
	}
	return found, err
}

// ChangedTrackers returns the devices of all accounts that were written since a time, in use or not, by account and id:
// of each its newest revision.
func ChangedTrackers(ctx context.Context, db driver.Conn, since time.Time) (map[TrackerName]uint64, error) {
	newest := map[TrackerName]uint64{}
	err := schemas.EachRow(ctx, db, "find changed devices", schemas.Query("devices_changed"),
		[]any{clickhouse.Named("since", since.UnixMilli())}, func(row schemas.Row) error {
			var name TrackerName
			var revision uint64
			if err := row.Scan((*uint64)(&name.Account), (*uint64)(&name.ID), &revision); err != nil {
				return err
			}
			newest[name] = revision
			return nil
		})
	return newest, err
}

func (t *Tracker) scan(row schemas.Row) error {
	return row.Scan((*uint64)(&t.Account), (*uint64)(&t.ID), &t.Revision, &t.UniqueID, &t.TokenSHA256)
}
