package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// readIDs returns the ids that the query of a name gives.
func readIDs(ctx context.Context, db driver.Conn, name string, args ...any) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "read "+name, schemas.Query(name), args, func(id *uint64, row schemas.Row) error {
		return row.Scan(id)
	})
}
