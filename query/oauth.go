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

// OAuthClients is how OAuth clients are listed.
var OAuthClients = Listing{Table: "oauth_clients", Search: []string{"name"}, Fields: []ListField{
	{Name: "name", Type: WordsField, Sort: true},
	{Name: "type", Type: TextField},
	{Name: "status", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// OAuthGrants is how grants are listed.
var OAuthGrants = Listing{Table: "oauth_grants", Fields: []ListField{
	{Name: "client_id", Type: TextField},
	{Name: "user_id", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// OAuthClient finds an OAuth client by its id, over all accounts. Account 0 is none.
func OAuthClient(ctx context.Context, db driver.Conn,
	id fleet.ClientID) (account fleet.AccountID, body string, archived bool, err error) {
	var a uint64
	err = db.QueryRow(ctx, schemas.Query("oauth_client"), clickhouse.Named("id", uint64(id))).Scan(&a, &body, &archived)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", false, nil
	}
	if err != nil {
		return 0, "", false, fmt.Errorf("read OAuth client: %w", err)
	}
	return fleet.AccountID(a), body, archived, nil
}
