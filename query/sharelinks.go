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

// ShareLinks is how share links are listed.
var ShareLinks = Listing{Table: "share_links", Search: []string{"note"}, Fields: []ListField{
	{Name: "vehicle_id", Type: TextField},
	{Name: "booking_id", Type: TextField},
	{Name: "expires_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// ShareLinkBySecret finds a share link by the hash of its secret, over all accounts. None is a zero id and no error.
func ShareLinkBySecret(ctx context.Context, db driver.Conn, hash string) (fleet.AccountID, uint64, error) {
	var account, id uint64
	err := db.QueryRow(ctx, schemas.Query("share_link_by_secret"), clickhouse.Named("hash", hash)).Scan(&account, &id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, fmt.Errorf("find a share link: %w", err)
	}
	return fleet.AccountID(account), id, nil
}
