package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// stamp tells whether tables were written to since they were read, for a fraction of what it costs to read what is new
// in them. It belongs to one goroutine at a time.
type stamp struct {
	tables []string

	seen    uint64
	changed time.Time // when it was seen to be another one
}

// staleFor is for how long tables that were written to are read again: of several replicas the one that was asked may
// be ahead of the one that was read.
const staleFor = 5 * time.Second

// look says whether the tables were written to since the last look, and whether they must be read at a time: what is
// read after the call is at least as new as the answer. A reading that fails must be told of with forget. Tables
// without parts on this server, which are empty or elsewhere, are always stale.
func (s *stamp) look(ctx context.Context, db driver.Conn, now time.Time) (written, stale bool, err error) {
	var seen, partitions uint64
	if err := db.QueryRow(ctx, schemas.Query("tables_stamp"), clickhouse.Named("tables", s.tables)).Scan(&seen,
		&partitions); err != nil {
		return false, false, fmt.Errorf("look for writes to %v: %w", s.tables, err)
	}
	if seen != s.seen {
		s.seen, s.changed, written = seen, now, true
	}
	return written, partitions == 0 || now.Sub(s.changed) < staleFor, nil
}

// forget makes the tables stale until they have been read.
func (s *stamp) forget() { s.seen = 0 }
