package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// AccountNamed returns the account of a name, and zero if there is none.
func AccountNamed(ctx context.Context, db driver.Conn, name string) (fleet.AccountID, error) {
	var id uint64
	err := db.QueryRow(ctx, schemas.Query("account_named"), clickhouse.Named("name", name)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read account %q: %w", name, err)
	}
	return fleet.AccountID(id), nil
}

// AccountEntry is a line of the list of accounts.
type AccountEntry struct {
	ID        uint64    `ch:"id"`
	Name      string    `ch:"name"`
	Timezone  string    `ch:"timezone"`
	CreatedAt time.Time `ch:"created_at"`
}

// AllAccounts lists every account in use, by id. It is for the operator, not for a tenant.
func AllAccounts(ctx context.Context, db driver.Conn) ([]AccountEntry, error) {
	var all []AccountEntry
	if err := db.Select(ctx, &all, schemas.Query("accounts_all")); err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	return all, nil
}

// KeyEntry is a line of the list of API keys.
type KeyEntry struct {
	ID        uint64     `ch:"id"`
	Name      string     `ch:"name"`
	TokenID   string     `ch:"token_id"`
	Scopes    []string   `ch:"scopes"`
	CreatedAt time.Time  `ch:"created_at"`
	ExpiresAt *time.Time `ch:"expires_at"`
	RevokedAt *time.Time `ch:"revoked_at"`
}

// AllKeys lists the API keys of an account, by id, revoked and expired ones included.
func AllKeys(ctx context.Context, db driver.Conn, account fleet.AccountID) ([]KeyEntry, error) {
	var all []KeyEntry
	if err := db.Select(ctx, &all, schemas.Query("api_keys_all"), clickhouse.Named("account", uint64(account))); err != nil {
		return nil, fmt.Errorf("read API keys: %w", err)
	}
	return all, nil
}

// DeviceEntry is a line of the list of trackers. VehicleID is written as ids are, and empty for a tracker on no vehicle.
type DeviceEntry struct {
	ID        uint64 `ch:"id"`
	UniqueID  string `ch:"unique_id"`
	Name      string `ch:"name"`
	Protocol  string `ch:"protocol"`
	VehicleID string `ch:"vehicle_id"`
}

// AllDevices lists the trackers of an account, by id.
func AllDevices(ctx context.Context, db driver.Conn, account fleet.AccountID) ([]DeviceEntry, error) {
	var all []DeviceEntry
	if err := db.Select(ctx, &all, schemas.Query("devices_all"), clickhouse.Named("account", uint64(account))); err != nil {
		return nil, fmt.Errorf("read devices: %w", err)
	}
	return all, nil
}
