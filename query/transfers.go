package query

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// JobRef names a job.
type JobRef struct {
	Account fleet.AccountID
	ID      uint64
}

// OpenTransfers returns the imports and exports of all accounts that wait for somebody to work on them, oldest first.
func OpenTransfers(ctx context.Context, db driver.Conn, now time.Time) ([]JobRef, error) {
	var all []JobRef
	err := each(ctx, db, "jobs_open", func(rows driver.Rows) error {
		var account, id uint64
		err := rows.Scan(&account, &id)
		all = append(all, JobRef{fleet.AccountID(account), id})
		return err
	}, clickhouse.Named("now", now.UnixMilli()))
	return all, err
}

// JobEnd is a job of which every step is done, and when the last was.
type JobEnd struct {
	JobRef
	At time.Time
}

// BackfillsEnded returns the backfills of all accounts that are done, and whose records do not say so yet.
func BackfillsEnded(ctx context.Context, db driver.Conn) ([]JobEnd, error) {
	var all []JobEnd
	err := each(ctx, db, "jobs_ended", func(rows driver.Rows) error {
		var account, id uint64
		var at time.Time
		err := rows.Scan(&account, &id, &at)
		all = append(all, JobEnd{JobRef{fleet.AccountID(account), id}, at})
		return err
	})
	return all, err
}

// InputRow is one row of a file that is imported: a JSON object, or what is wrong with it.
type InputRow struct {
	Row   uint32
	Body  string
	Fault string
}

// JobInput returns the rows of a file that is imported, in order.
func JobInput(ctx context.Context, db driver.Conn, job JobRef) ([]InputRow, error) {
	var all []InputRow
	err := each(ctx, db, "job_input", func(rows driver.Rows) error {
		var r InputRow
		err := rows.Scan(&r.Row, &r.Body, &r.Fault)
		all = append(all, r)
		return err
	}, job.args()...)
	return all, err
}

// JobOutput gives the records that an attempt at an export wrote, in order.
func JobOutput(ctx context.Context, db driver.Conn, job JobRef, attempt uint32, give func(body string) error) error {
	return each(ctx, db, "job_output", func(rows driver.Rows) error {
		var body string
		if err := rows.Scan(&body); err != nil {
			return err
		}
		return give(body)
	}, append(job.args(), clickhouse.Named("attempt", attempt))...)
}

// RowError is why a row of an import was refused. Errors is a JSON array of what is wrong with members, or empty.
type RowError struct {
	Row    uint32
	Code   string
	Detail string
	Errors string
}

// JobErrors returns some of the rows of an import that were refused, in order, and how many are listed.
func JobErrors(ctx context.Context, db driver.Conn, job JobRef, limit, offset int) ([]RowError, int, error) {
	var total uint64
	if err := db.QueryRow(ctx, schemas.Query("job_errors_count"), job.args()...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count job_errors: %w", err)
	}
	var all []RowError
	err := each(ctx, db, "job_errors", func(rows driver.Rows) error {
		var e RowError
		err := rows.Scan(&e.Row, &e.Code, &e.Detail, &e.Errors)
		all = append(all, e)
		return err
	}, append(job.args(), clickhouse.Named("limit", uint32(limit)), clickhouse.Named("offset", uint32(offset)))...)
	return all, int(total), err
}

// StepsDone returns which steps of a job are done.
func StepsDone(ctx context.Context, db driver.Conn, job JobRef) (map[uint64]bool, error) {
	all := map[uint64]bool{}
	err := each(ctx, db, "job_steps_done", func(rows driver.Rows) error {
		var step uint64
		err := rows.Scan(&step)
		all[step] = true
		return err
	}, job.args()...)
	return all, err
}

// RecordsByRefs returns those of an account's records of a kind, not archived, that have one of some ids in whatever other system.
func RecordsByRefs(ctx context.Context, db driver.Conn, l *Listing, account fleet.AccountID, refs []string) ([]Stored, error) {
	text := strings.Replace(schemas.Query("records_by_refs"), "/*table*/", l.Table, 1)
	return scanStored(ctx, db, l.Table, text, clickhouse.Named("account", uint64(account)), clickhouse.Named("refs", refs))
}

func (j JobRef) args() []any {
	return []any{clickhouse.Named("account", uint64(j.Account)), clickhouse.Named("job", j.ID)}
}

// each gives every row of a query to scan.
func each(ctx context.Context, db driver.Conn, name string, scan func(driver.Rows) error, args ...any) error {
	rows, err := db.Query(ctx, schemas.Query(name), args...)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
