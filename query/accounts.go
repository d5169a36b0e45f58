package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// AccountRecords is the listing of the records of accounts, of which each account has one. Nobody lists them: it says
// what is kept of them in memory.
var AccountRecords = Listing{Table: "accounts"}

// Accounts returns all accounts that are not archived, by id; with a name, those of that name, which is one or none.
func Accounts(ctx context.Context, db driver.Conn, name string) ([]Stored, error) {
	return scanStored(ctx, db, "accounts", schemas.Query("accounts"), clickhouse.Named("name", name))
}
