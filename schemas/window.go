package schemas

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ingestTables are the tables into which batches of Kafka's records go, and those that views fill from them.
var ingestTables = []string{
	"dead_letters", "device_outcomes", "heard", "heard_hours", "ingest_outcomes", "positions", "positions_by_cell",
	"tag_reports", "telemetry", "telemetry_1m", "telemetry_1h", "telemetry_1d",
	"telemetry_latest", "unregistered_reports", "vehicle_mileage", "vehicle_state",
}

// blocksPerPartition is how many blocks a partition of Kafka writes into a table within ten minutes at most: batches
// are 0.4 s long, and some have rows of several months. So long after it was begun a batch may be formed again by
// another owner and is known. A remembered block takes 211 bytes of memory, and a start that reads a million of them
// takes seven seconds (100,000: 55 ms).
const (
	blocksPerPartition = 7 * 600
	leastWindow        = 10_000 // what the tables are made with
	mostWindow         = 1_000_000
)

// Window returns how many blocks the tables of ingest have to remember, where the topics have so many partitions
// together. ClickHouse has no window in time for tables that are not replicated.
func Window(partitions int) uint64 {
	return uint64(min(max(partitions*blocksPerPartition, leastWindow), mostWindow))
}

// Narrow returns the tables of ingest that remember fewer blocks than a window.
func Narrow(ctx context.Context, db driver.Conn, window uint64) ([]string, error) {
	var narrow []string
	err := EachRow(ctx, db, "read deduplication windows", Query("deduplication_windows"), nil, func(row Row) error {
		var name string
		var blocks uint64
		if err := row.Scan(&name, &blocks); err != nil {
			return err
		}
		if blocks < window && slices.Contains(ingestTables, name) {
			narrow = append(narrow, name)
		}
		return nil
	})
	return narrow, err
}

// Widen gives the tables of ingest a window, where theirs is smaller, and returns which those were. It may be run at
// any time, by any number of processes, and takes milliseconds.
func Widen(ctx context.Context, db driver.Conn, window uint64) ([]string, error) {
	narrow, err := Narrow(ctx, db, window)
	if err != nil {
		return nil, err
	}
	for _, name := range narrow {
		if err := db.Exec(ctx,
			fmt.Sprintf("ALTER TABLE %s MODIFY SETTING non_replicated_deduplication_window = %d", name, window)); err != nil {
			return nil, fmt.Errorf("widen the deduplication window of %s: %w", name, err)
		}
	}
	return narrow, nil
}
