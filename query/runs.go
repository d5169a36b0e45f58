package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Outcome counts what became of reports: Read = Stored + the sum of Refused, once a batch is worked through.
type Outcome struct {
	Read, Stored int64
	Refused      map[fleet.Refusal]int64 // no zeros
}

// RunOutcome returns what has become so far of the reports of one replay, over all accounts, those of no account
// included. A run that nothing is known of has zeros.
func RunOutcome(ctx context.Context, db driver.Conn, run string) (Outcome, error) {
	o := Outcome{Refused: make(map[fleet.Refusal]int64)}
	refused := make(map[string]int64)
	err := db.QueryRow(ctx, schemas.Query("run_outcomes"), clickhouse.Named("run", run)).Scan(&o.Read, &o.Stored, &refused)
	if err != nil {
		return o, fmt.Errorf("read outcomes of run %s: %w", run, err)
	}
	for reason, n := range refused {
		if n != 0 {
			o.Refused[fleet.Refusal(reason)] = n
		}
	}
	return o, nil
}
