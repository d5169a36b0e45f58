package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// AsOf is until when what the report stands on was made: of one that is made of facts until when everything was made
// again that had been written, the zero time if nothing was yet; of all others now.
func (d *Definition) AsOf(ctx context.Context, db driver.Conn, now time.Time) (time.Time, error) {
	if !slices.ContainsFunc([]string{"FROM vehicle_", "FROM rental_days", "FROM driving_"}, func(facts string) bool {
		return strings.Contains(d.statement, facts)
	}) {
		return now, nil
	}
	var at time.Time
	if err := db.QueryRow(ctx, schemas.Query("facts_as_of")).Scan(&at); err != nil {
		return at, fmt.Errorf("read until when facts were made: %w", err)
	}
	if at.Unix() <= 0 {
		return time.Time{}, nil
	}
	return at, nil
}
