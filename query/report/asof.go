package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// AsOf is until when what the report stands on was made: of one that is made of facts when these were last made, the
// zero time if never; of all others now.
func (d *Definition) AsOf(ctx context.Context, db driver.Conn, q Question, now time.Time) (time.Time, error) {
	if !strings.Contains(d.statement, "vehicle_days") && !strings.Contains(d.statement, "rental_days") {
		return now, nil
	}
	var at time.Time
	if err := db.QueryRow(ctx, schemas.Query("finance_as_of"), clickhouse.Named("account", uint64(q.Account)),
		clickhouse.Named("today", q.Today.Format(time.DateOnly))).Scan(&at); err != nil {
		return at, fmt.Errorf("read until when facts were made: %w", err)
	}
	if at.Unix() <= 0 {
		return time.Time{}, nil
	}
	return at, nil
}
