package schemas

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// checkpointDays is for how many days a vehicle's checkpoint of each day is kept. What comes later than that for a
// day before begins at the last one of a month.
const checkpointDays = 40

// ThinCheckpoints takes what nobody is likely to begin at out of use: of days long ago all but the last checkpoint of
// each vehicle in each month. They are a cache: what is missing is derived from an earlier one. It may be run by any
// number of processes, beside those that write checkpoints, and killed.
func ThinCheckpoints(ctx context.Context, db driver.Conn, now time.Time) error {
	before := now.UTC().AddDate(0, 0, -checkpointDays).Format(time.DateOnly)
	if err := db.Exec(ctx, Query("checkpoints_thin"), clickhouse.Named("before", before)); err != nil {
		return fmt.Errorf("thin out checkpoints of before %s: %w", before, err)
	}
	return nil
}
