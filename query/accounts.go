package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// Accounts returns all accounts that are not archived, by id; with a name, those of that name, which is one or none.
func Accounts(ctx context.Context, db driver.Conn, name string) ([]Stored, error) {
	return scanStored(ctx, db, "accounts", schemas.Query("accounts"), clickhouse.Named("name", name))
}
