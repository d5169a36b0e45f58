// Package sink writes what a batch of the feed became into ClickHouse, and reads back the little that judging the next
// batch needs (load.go). It owns the mapping between domain values and stored columns, both ways.
//
// A Sink collects the rows of one batch column by column; Flush inserts them, one insert a table, each with the batch's
// token as insert_deduplication_token, so that inserting the same batch again changes nothing in the tables and in
// what views fill from them. Flush writes in this order:
//
//	unregistered_reports, dead_letters      what is kept because it did not become data
//	positions, telemetry                    data
//	ingest_outcomes                         the counts of both
//	vehicle_mileage, vehicle_state          what the next batch is judged by
//
// After a crash the batch is formed and judged again. The order makes that harmless wherever the crash was:
//
//   - Before the states were written, the batch is judged by the same states as the first time and comes out the same;
//     inserts that had happened are no-ops, the others happen now.
//   - After them, every earlier insert had happened, and all of the batch's inserts are no-ops, whatever it comes out as.
//   - If the registry of devices changed in between, a report may come out differently. It may move from what did not
//     become data to data, whose insert, if it had happened, would now be a no-op without the report: therefore what did
//     not become data is written first, and the report is there to be released or replayed. It may move the other way,
//     and is then kept in both.
//
// No row can make ClickHouse reject a block: every number is cut to its column's range here, and every time is one that
// DateTime64 can hold.
package sink

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
)

// Source is where in Kafka a report came from.
type Source struct {
	Topic     string
	Partition int
	Offset    int64
	Index     int // of the report in its record
}

// Sink collects the rows of a batch. It belongs to one goroutine. Its memory is kept from batch to batch, so that
// adding a row costs no allocation.
type Sink struct {
	db           driver.Conn
	unregistered unregistered
	deadLetters  deadLetters
	positions    positions
	telemetry    telemetry
	outcomes     outcomes
	mileages     mileages
	states       states
}

// New returns an empty sink that writes to db.
func New(db driver.Conn) *Sink { return &Sink{db: db} }

// Reset forgets all rows that were added and not flushed.
func (s *Sink) Reset() {
	for _, t := range s.tables() {
		t.reset()
	}
}

// Positions returns how many positions have been added.
func (s *Sink) Positions() int { return len(s.positions.vehicle) }

// Signals returns how many measurements have been added.
func (s *Sink) Signals() int { return len(s.telemetry.vehicle) }

// table is the rows of one table.
type table interface {
	name() string
	insert() string // the statement, which names the columns in the order of columns
	rows() int
	columns(b driver.Batch) error
	reset()
}

func (s *Sink) tables() []table {
	return []table{&s.unregistered, &s.deadLetters, &s.positions, &s.telemetry, &s.outcomes, &s.mileages, &s.states}
}

// Flush inserts the rows in the order of the package comment and forgets them. The token names the batch and nothing
// else. On an error any part of the order may have been written; the rows stay until Reset, and the way on is to judge the
// batch again and flush it with the same token. It blocks until the server has stored the rows or the context ends.
func (s *Sink) Flush(ctx context.Context, token string) error {
	for _, step := range [][]table{
		{&s.unregistered, &s.deadLetters},
		{&s.positions, &s.telemetry},
		{&s.outcomes},
		{&s.mileages},
		{&s.states},
	} {
		if err := s.write(ctx, token, step); err != nil {
			return err
		}
	}
	s.Reset()
	return nil
}

// write inserts the rows of tables that do not depend on each other, at once.
func (s *Sink) write(ctx context.Context, token string, tables []table) error {
	var filled []table
	for _, t := range tables {
		if t.rows() > 0 {
			filled = append(filled, t)
		}
	}
	if len(filled) == 1 {
		return s.insert(ctx, token, filled[0])
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range filled {
		group.Go(func() error { return s.insert(ctx, token, t) })
	}
	return group.Wait()
}

func (s *Sink) insert(ctx context.Context, token string, t table) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	batch, err := s.db.PrepareBatch(ctx, t.insert())
	if err != nil {
		return fmt.Errorf("insert %s of %s: %w", t.name(), token, err)
	}
	defer batch.Close()
	if err := t.columns(batch); err != nil {
		return fmt.Errorf("fill %s of %s: %w", t.name(), token, err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert %s of %s: %w", t.name(), token, err)
	}
	return nil
}

// fill appends one slice a column, in order.
func fill(b driver.Batch, columns ...any) error {
	for i, column := range columns {
		if err := appendColumn(b.Column(i), column); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func appendColumn(to driver.BatchColumn, column any) error {
	words, ok := column.(words)
	if !ok {
		return to.Append(column)
	}
	// A LowCardinality column takes a slice apart by reflection, with an allocation for every value; single values
	// that are boxed already cost none.
	for _, word := range words {
		if err := to.AppendRow(word); err != nil {
			return err
		}
	}
	return nil
}

// words is a column of LowCardinality(String): strings, boxed once for each different one.
type words []any

var boxedSignals = func() (boxed [len(fleet.Signals)]any) {
	for i := range fleet.Signals {
		boxed[i] = fleet.Signals[i].Name
	}
	return boxed
}()

var boxedAlarms = func() map[string]any {
	boxed := map[string]any{"": ""}
	for _, name := range fleet.Alarms {
		boxed[name] = name
	}
	return boxed
}()

// box remembers the last string that it boxed, which in a batch is mostly the one that is wanted.
type box struct {
	text  string
	boxed any
}

func (b *box) of(text string) any {
	if b.boxed == nil || b.text != text {
		b.text, b.boxed = text, text
	}
	return b.boxed
}
