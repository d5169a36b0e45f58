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
	"math"
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
	Index     int // The place of the report within the record.
}

// Batch is the rows of one batch.
type Batch struct {
	db         driver.Conn
	source     Source // The topic and partition of all rows.
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

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.apart.reset()
	b.letters.reset()
	b.positions.reset()
	b.telemetry.reset()
	b.heard.reset()
	b.heardHours.reset()
	b.tags.reset()
	b.outcomes.reset()
	b.mileages.reset()
	b.states.reset()
}

// table is the rows of one table in columns.
type table interface {
	rows() int
	insert() string                              // INSERT INTO … (columns)
	fill(into driver.Batch, source Source) error // append the columns in the order of insert
	keys(source Source) keys
}

// Flush inserts the rows, all but where the vehicles stand now, and returns when they are stored. After an error, flush
// again with the same token and rows, or form the batch again.
func (b *Batch) Flush(ctx context.Context, token string) error {
	if err := b.flush(ctx, token, &b.apart, &b.letters); err != nil {
		return err
	}
	// None depends on another, and what one of them has stored is the same when the batch is formed again. Where one fails,
	// the others come to their ends, rather than that they are cut off between a table and what its views feed.
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

// send inserts the rows of a table. Where the server says that it has had them, they are looked for, and go under the next token if they are not
// there. Those that are not looked for go under a token that nobody has spent.
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
	if err := t.fill(batch, b.source); err != nil {
		_ = batch.Abort()
		return err
	}
	return batch.Send()
}

// filler appends columns in order and remembers the first error.
type filler struct {
	batch driver.Batch
	next  int
	err   error
}

func (f *filler) column(values any) {
	if f.err == nil {
		f.err = f.batch.Column(f.next).Append(values)
	}
	f.next++
}

// constant fills a column with one value.
func (f *filler) constant(value any, rows int) {
	column := f.batch.Column(f.next)
	for i := 0; i < rows && f.err == nil; i++ {
		f.err = column.AppendRow(value)
	}
	f.next++
}

// words fills a column of low cardinality. Its values are boxed already, so that nothing is allocated for a row.
func (f *filler) words(values []any) {
	column := f.batch.Column(f.next)
	for i := 0; i < len(values) && f.err == nil; i++ {
		f.err = column.AppendRow(values[i])
	}
	f.next++
}

// optional is a column of numbers of which some are absent.
type optional[T any] struct {
	values []T
	absent []bool
	refs   []*T // Made when the column is sent, because until then values may move.
}

func (o *optional[T]) add(v T, ok bool) {
	o.values, o.absent = append(o.values, v), append(o.absent, !ok)
}

func (o *optional[T]) reset() { o.values, o.absent = o.values[:0], o.absent[:0] }

func (o *optional[T]) pointers() []*T {
	o.refs = o.refs[:0]
	for i := range o.values {
		if o.absent[i] {
			o.refs = append(o.refs, nil)
		} else {
			o.refs = append(o.refs, &o.values[i])
		}
	}
	return o.refs
}

// scaled returns v times the scale as a whole number within [low, high], and false for NaN.
func scaled(v, scale, low, high float64) (float64, bool) {
	if math.IsNaN(v) {
		return 0, false
	}
	return math.Round(max(low, min(high, v*scale))), true
}
