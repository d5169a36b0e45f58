package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// TornViews returns the tables that lack something which views ought to have brought there of what was stored between
// two instants, by name. Of telemetry the time of measuring counts.
func TornViews(ctx context.Context, db driver.Conn, since, until time.Time) ([]string, error) {
	var torn []string
	err := schemas.EachRow(ctx, db, "compare views", schemas.Query("views_torn"), []any{
		clickhouse.Named("since", since.UnixMilli()), clickhouse.Named("until", until.UnixMilli()),
	}, func(row schemas.Row) error {
		var table string
		var missing uint64
		if err := row.Scan(&table, &missing); err != nil {
			return err
		}
		if missing > 0 {
			torn = append(torn, table)
		}
		return nil
	})
	return torn, err
}
