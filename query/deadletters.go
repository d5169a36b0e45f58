package query

import (
	"context"
	"database/sql"
	"errors"
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
		clickhouse.Named("to", int64(to)), clickhouse.Named("reason", string(f.Reason)), clickhouse.Named("unique_id", f.UniqueID))
}

// DeadLetters returns dead letters without their payloads, newest first.
func DeadLetters(ctx context.Context, db driver.Conn, f DeadLetterFilter) ([]DeadLetter, error) {
	rows, err := db.Query(ctx, schemas.Query("dead_letters"), f.named(clickhouse.Named("after_at", int64(f.AfterAt)),
		clickhouse.Named("after_id", f.AfterID), clickhouse.Named("limit", uint64(f.Limit)), clickhouse.Named("offset", uint64(f.Offset)))...)
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	defer rows.Close()
	var all []DeadLetter
	for rows.Next() {
		var d DeadLetter
		if err := d.scan(rows.Scan); err != nil {
			return nil, fmt.Errorf("read dead letters: %w", err)
		}
		all = append(all, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	return all, nil
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
	var d DeadLetter
	var payload string
	row := db.QueryRow(ctx, schemas.Query("dead_letter"), clickhouse.Named("account", uint64(account)), clickhouse.Named("id", id))
	err := d.scan(row.Scan, &payload)
	if errors.Is(err, sql.ErrNoRows) {
		return d, false, nil
	}
	if err != nil {
		return d, false, fmt.Errorf("read dead letter %d: %w", id, err)
	}
	d.Payload = []byte(payload)
	return d, true, nil
}

func (d *DeadLetter) scan(scan func(...any) error, more ...any) error {
	var at int64
	var reason string
	err := scan(append([]any{&d.ID, &at, &reason, &d.Detail, &d.UniqueID, &d.Topic, &d.Partition, &d.Offset, &d.Index,
		&d.Format, &d.PayloadBytes}, more...)...)
	d.At, d.Reason = fleet.Millis(at), fleet.Refusal(reason)
	return err
}
