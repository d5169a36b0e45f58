// Package sink writes what a batch became into ClickHouse, so that writing it again changes nothing.
//
// A Batch collects rows in columns, whose memory it keeps from batch to batch. Flush and FlushStates insert them, one
// insert a table, each with the batch's token, in this order:
//
//	unregistered_reports, dead_letters   what the batch did not store
//	positions, telemetry, tag_reports    what it stored, at once; views make the rollups of telemetry in the same insert
//	heard, heard_hours                   of which devices anything came, beside these
//	ingest_outcomes                      what became of everything
//	    (here the caller says on a topic which vehicles have something new)
//	vehicle_mileage, vehicle_state       where the vehicles stand now
//
// and the caller commits the batch's offset after that. A process that is killed in between has the same range handled
// again, under the same token. Before the last two tables were written, the vehicles still stand where they stood, so
// every verdict is the same and the inserts that were done change nothing. After them verdicts may differ, but every
// table knows the token and has its rows, or later ones of the same vehicles: nothing is written but measurements, once
// more (spent.go says why). Only the registry may change in between. So what was kept apart or refused comes
// first, and a device that is registered between the two tries is stored twice in doubt (and refused as a duplicate
// later), never lost. And the tokens of these two tables name their rows as well, so that those of a device that is
// taken away between the two tries are added; what was there already collapses.
//
// The rows come from checked positions only: nothing in them makes the server refuse a block. A Batch belongs to one
// goroutine.
package sink

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/schemas"
)

// Source is where in Kafka something came from.
type Source struct {
	Topic     string
	Partition int
	Offset    int64
	Index     int // of the report within the record
}

// Batch is the rows of one batch.
type Batch struct {
	db         driver.Conn
	source     Source // topic and partition of all rows
	apart      apartRows
	letters    letterRows
	positions  positionRows
	telemetry  telemetryRows
	tags       tagRows
	heard      heardRows
	heardHours heardHourRows
	outcomes   outcomeRows
	mileages   mileageRows
	states     stateRows
}

// NewBatch returns an empty batch for a partition.
func NewBatch(db driver.Conn, topic string, partition int) *Batch {
	return &Batch{db: db, source: Source{Topic: topic, Partition: partition}}
}

// tables are the rows of all tables.
func (b *Batch) tables() []table {
	return []table{
		&b.apart, &b.letters, &b.positions, &b.telemetry, &b.heard, &b.heardHours, &b.tags, &b.outcomes,
		&b.mileages, &b.states,
	}
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	for _, t := range b.tables() {
		for _, c := range t.columns() {
			c.reset()
		}
	}
}

// Flush inserts the rows, all but where the vehicles stand now, and returns when they are stored. After an error, flush
// again with the same token and rows, or form the batch again.
func (b *Batch) Flush(ctx context.Context, token string) error {
	if err := b.flush(ctx, token, &b.apart, &b.letters); err != nil {
		return err
	}
	// None depends on another, and what one of them has stored is the same when the batch is formed again. Where one
	// fails, the others come to their ends, rather than that they are cut off between a table and what its views feed.
	var all errgroup.Group
	all.Go(func() error { return b.flush(ctx, token, &b.positions) })
	all.Go(func() error { return b.flush(ctx, token, &b.telemetry, &b.tags) })
	all.Go(func() error { return b.flush(ctx, token, &b.heard, &b.heardHours) })
	if err := all.Wait(); err != nil {
		return err
	}
	return b.flush(ctx, token, &b.outcomes)
}

// FlushStates inserts where the vehicles stand now, after everything else that the batch is to lead to.
func (b *Batch) FlushStates(ctx context.Context, token string) error {
	return b.flush(ctx, token, &b.mileages, &b.states)
}

func (b *Batch) flush(ctx context.Context, token string, tables ...table) error {
	for _, t := range tables {
		if t.rows() == 0 {
			continue
		}
		named := token
		if left, ok := t.(interface{ names() uint64 }); ok {
			named += "#" + strconv.FormatUint(left.names(), 16)
		}
		if err := b.send(ctx, named, t); err != nil {
			return fmt.Errorf("insert batch %s: %w", token, err)
		}
	}
	return nil
}

// send inserts the rows of a table. Where the server says that it has had them, they are looked for, and go under the
// next token if they are not there. Those that are not looked for go under a token that nobody has spent.
func (b *Batch) send(ctx context.Context, token string, t table) error {
	var heard schemas.Verdict
	sought := len(t.keys(b.source).tables) > 0
	for turn := 1; ; turn++ {
		if turn > 1 && !sought {
			token = rand.Text()
		}
		if err := b.sendUnder(heard.Of(ctx), schemas.NextToken(token, turn), t); err != nil || heard.Duplicate == 0 {
			return err
		}
		if lost, err := b.lost(ctx, t); err != nil || !lost {
			return err
		}
	}
}

func (b *Batch) sendUnder(ctx context.Context, token string, t table) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	batch, err := b.db.PrepareBatch(ctx, t.insert())
	if err != nil {
		return err
	}
	if err := fill(batch, t, b.source); err != nil {
		_ = batch.Abort()
		return err
	}
	return batch.Send()
}
