package schemas

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Row is one row of an answer, whose columns are scanned in their order.
type Row interface {
	Scan(columns ...any) error
}

// ErrEnough is what a function that is given to EachRow returns when it wants no more rows. The reading then ends
// without an error.
var ErrEnough = errors.New("enough rows")

// EachRow runs a query and hands over its rows as they come from the server, until the function that takes them fails.
// An error is wrapped with what was being done, for instance "find bookings that are due".
func EachRow(
	ctx context.Context, db driver.Conn, doing, text string, args []any, take func(row Row) error,
) error {
	rows, err := db.Query(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// AllRows runs a query and returns what each of its rows was read into, in their order: nil if there are none, or if
// the reading failed. Errors are those of EachRow.
func AllRows[T any](
	ctx context.Context, db driver.Conn, doing, text string, args []any, read func(value *T, row Row) error,
) ([]T, error) {
	var all []T
	err := EachRow(ctx, db, doing, text, args, func(row Row) error {
		var zero T
		all = append(all, zero)
		return read(&all[len(all)-1], row)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// OneRow runs a query that gives one row at most and returns what it was read into, and false if there is none. Errors
// are those of EachRow.
func OneRow[T any](
	ctx context.Context, db driver.Conn, doing, text string, args []any, read func(value *T, row Row) error,
) (T, bool, error) {
	var value T
	err := read(&value, db.QueryRow(ctx, text, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return value, false, nil
	}
	if err != nil {
		return value, false, fmt.Errorf("%s: %w", doing, err)
	}
	return value, true, nil
}
