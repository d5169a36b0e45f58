package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// TornViews returns the tables that lack something which views ought to have brought there of what was stored between
// two instants, by name. Of telemetry the time of measuring counts.
func TornViews(ctx context.Context, db driver.Conn, since, until time.Time) ([]string, error) {
	rows, err := db.Query(ctx, schemas.Query("views_torn"), clickhouse.Named("since", since.UnixMilli()),
		clickhouse.Named("until", until.UnixMilli()))
	if err != nil {
		return nil, fmt.Errorf("compare views: %w", err)
	}
	defer rows.Close()
	var torn []string
	for rows.Next() {
		var table string
		var missing uint64
		if err := rows.Scan(&table, &missing); err != nil {
			return nil, fmt.Errorf("compare views: %w", err)
		}
		if missing > 0 {
			torn = append(torn, table)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("compare views: %w", err)
	}
	return torn, nil
}
