package query

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// IngestHold knows whether somebody asks the pipeline to hold still, half a second late at most. It is safe for
// concurrent use.
type IngestHold struct {
	db   driver.Conn
	held atomic.Bool
}

// HoldNotice is by when every pipeline that runs has heard of a hold.
const HoldNotice = 4 * holdPoll

const holdPoll = 500 * time.Millisecond

// NewIngestHold returns a IngestHold that says no until Run has asked.
func NewIngestHold(db driver.Conn) *IngestHold { return &IngestHold{db: db} }

// Held tells whether to hold still.
func (h *IngestHold) Held() bool { return h.held.Load() }

// Run asks the store until ctx ends. While it cannot be asked the last answer holds.
func (h *IngestHold) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(holdPoll)
	defer tick.Stop()
	for broken := false; ; {
		var held bool
		err := h.db.QueryRow(ctx, schemas.Query("ingest_held")).Scan(&held)
		switch {
		case err == nil:
			h.held.Store(held)
		case ctx.Err() == nil && !broken:
			failed(fmt.Errorf("ask whether to hold still: %w", err))
		}
		broken = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// AskIngestHold asks every pipeline on the store to hold still for a while, from now on. Asked again, the newest span
// of an id holds; none at all lets them go on.
func AskIngestHold(ctx context.Context, db driver.Conn, id string, span time.Duration) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{
		"id": id, "seconds": fmt.Sprint(int(span.Seconds())),
	}))
	if err := db.Exec(ctx, schemas.Query("hold_ask")); err != nil {
		return fmt.Errorf("ask the pipeline to hold still: %w", err)
	}
	return nil
}
