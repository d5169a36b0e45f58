package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DeadLetter is a record, or one report of it, that could not become data.
type DeadLetter struct {
	ID           uint64
	At           fleet.Millis
	Reason       fleet.Refusal
	Detail       string
	UniqueID     string // of the device, if the record named one
	Topic        string
	Partition    uint16
	Offset       uint64
	Index        uint32 // of the report in its record
	Format       string
	PayloadBytes uint64 // of the record; Payload is shorter if it was cut
	Payload      []byte // only from FindDeadLetter
}

// DeadLetterFilter says which dead letters of an account are wanted.
type DeadLetterFilter struct {
	Account  fleet.AccountID
	From, To fleet.Millis // [From, To); To 0 means no end
	Reason   fleet.Refusal
	UniqueID string

	AfterAt       fleet.Millis // of a page before: its last time
	AfterID       uint64       // and its last id
	Offset, Limit int
}

func (f *DeadLetterFilter) named(more ...any) []any {
	to := f.To
	if to == 0 || to > endOfTime {
		to = endOfTime
	}
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("from", int64(max(f.From, 0))),
		clickhouse.Named("to", int64(to)), clickhouse.Named("reason", string(f.Reason)),
		clickhouse.Named("unique_id", f.UniqueID))
}

// DeadLetters returns dead letters without their payloads, newest first.
func DeadLetters(ctx context.Context, db driver.Conn, f DeadLetterFilter) ([]DeadLetter, error) {
	args := f.named(clickhouse.Named("after_at", int64(f.AfterAt)), clickhouse.Named("after_id", f.AfterID),
		clickhouse.Named("limit", uint64(f.Limit)), clickhouse.Named("offset", uint64(f.Offset)))
	return schemas.AllRows(ctx, db, "read dead letters", schemas.Query("dead_letters"), args,
		func(d *DeadLetter, row schemas.Row) error { return d.scan(row) })
}

// CountDeadLetters returns how many DeadLetters gives without cursor, offset and limit.
func CountDeadLetters(ctx context.Context, db driver.Conn, f DeadLetterFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query("dead_letters_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count dead letters: %w", err)
	}
	return int(n), nil
}

// FindDeadLetter returns one dead letter of an account with its payload, and false if it has none of that id.
func FindDeadLetter(ctx context.Context, db driver.Conn, account fleet.AccountID, id uint64) (DeadLetter, bool, error) {
	var payload string
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("id", id)}
	doing := fmt.Sprintf("read dead letter %d", id)
	d, ok, err := schemas.OneRow(ctx, db, doing, schemas.Query("dead_letter"), args,
		func(d *DeadLetter, row schemas.Row) error { return d.scan(row, &payload) })
	d.Payload = []byte(payload)
	return d, ok, err
}

func (d *DeadLetter) scan(row schemas.Row, more ...any) error {
	columns := []any{&d.ID, (*int64)(&d.At), (*string)(&d.Reason), &d.Detail, &d.UniqueID, &d.Topic, &d.Partition,
		&d.Offset, &d.Index, &d.Format, &d.PayloadBytes}
	return row.Scan(append(columns, more...)...)
}
