package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DayOutcome is what became of the reports of an account on one day: Read is Stored plus the sum of Refused.
type DayOutcome struct {
	Day     fleet.Millis // its start, UTC
	Read    int64
	Stored  int64
	Signals int64                   // measurements stored beside the positions
	Refused map[fleet.Refusal]int64 // no zeros
}

// DailyOutcomes returns what became of the reports of an account in [from, to), one DayOutcome for each day with any,
// oldest first.
func DailyOutcomes(ctx context.Context, db driver.Conn, account fleet.AccountID,
	from, to fleet.Millis) ([]DayOutcome, error) {
	return schemas.AllRows(ctx, db, "read outcomes", schemas.Query("outcomes_daily"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("from", int64(max(from, 0))),
		clickhouse.Named("to", int64(min(to, endOfTime))),
	}, func(o *DayOutcome, row schemas.Row) error {
		var day uint32
		var refused map[string]int64
		if err := row.Scan(&day, &o.Read, &o.Stored, &o.Signals, &refused); err != nil {
			return err
		}
		o.Day, o.Refused = fleet.Millis(day)*1000, reasons(refused)
		return nil
	})
}

// reasons leaves out those that corrections brought back to nothing.
func reasons(counts map[string]int64) map[fleet.Refusal]int64 {
	refused := make(map[fleet.Refusal]int64, len(counts))
	for reason, n := range counts {
		if n != 0 {
			refused[fleet.Refusal(reason)] = n
		}
	}
	return refused
}
