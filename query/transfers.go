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
	return schemas.AllRows(ctx, db, "read jobs_open", schemas.Query("jobs_open"), []any{
		clickhouse.Named("now", now.UnixMilli()),
	}, func(job *JobRef, row schemas.Row) error {
		return row.Scan((*uint64)(&job.Account), &job.ID)
	})
}

// JobEnd is a job of which every step is done, and when the last was.
type JobEnd struct {
	JobRef
	At time.Time
}

// BackfillsEnded returns the backfills of all accounts that are done, and whose records do not say so yet.
func BackfillsEnded(ctx context.Context, db driver.Conn) ([]JobEnd, error) {
	return schemas.AllRows(ctx, db, "read jobs_ended", schemas.Query("jobs_ended"), nil,
		func(end *JobEnd, row schemas.Row) error {
			return row.Scan((*uint64)(&end.Account), &end.ID, &end.At)
		})
}

// InputRow is one row of a file that is imported: a JSON object, or what is wrong with it.
type InputRow struct {
	Row   uint32
	Body  string
	Fault string
}

// JobInput returns the rows of a file that is imported, in order.
func JobInput(ctx context.Context, db driver.Conn, job JobRef) ([]InputRow, error) {
	return schemas.AllRows(ctx, db, "read job_input", schemas.Query("job_input"), job.args(),
		func(r *InputRow, row schemas.Row) error {
			return row.Scan(&r.Row, &r.Body, &r.Fault)
		})
}

// JobOutput gives the records that an attempt at an export wrote, in order.
func JobOutput(ctx context.Context, db driver.Conn, job JobRef, attempt uint32, give func(body string) error) error {
	args := append(job.args(), clickhouse.Named("attempt", attempt))
	return schemas.EachRow(ctx, db, "read job_output", schemas.Query("job_output"), args, func(row schemas.Row) error {
		var body string
		if err := row.Scan(&body); err != nil {
			return err
		}
		return give(body)
	})
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
	args := append(job.args(), clickhouse.Named("limit", uint32(limit)), clickhouse.Named("offset", uint32(offset)))
	all, err := schemas.AllRows(ctx, db, "read job_errors", schemas.Query("job_errors"), args,
		func(e *RowError, row schemas.Row) error {
			return row.Scan(&e.Row, &e.Code, &e.Detail, &e.Errors)
		})
	return all, int(total), err
}

// StepsDone returns which steps of a job are done.
func StepsDone(ctx context.Context, db driver.Conn, job JobRef) (map[uint64]bool, error) {
	all := map[uint64]bool{}
	err := schemas.EachRow(ctx, db, "read job_steps_done", schemas.Query("job_steps_done"), job.args(),
		func(row schemas.Row) error {
			var step uint64
			err := row.Scan(&step)
			all[step] = true
			return err
		})
	return all, err
}

// RecordsByRefs returns those of an account's records of a kind, not archived, that have one of some ids in
// whatever other system.
func RecordsByRefs(ctx context.Context, db driver.Conn, l *Listing, account fleet.AccountID,
	refs []string) ([]Stored, error) {
	text := strings.Replace(schemas.Query("records_by_refs"), "/*table*/", l.Table, 1)
	return scanStored(ctx, db, l.Table, text, clickhouse.Named("account", uint64(account)), clickhouse.Named("refs", refs))
}

func (j JobRef) args() []any {
	return []any{clickhouse.Named("account", uint64(j.Account)), clickhouse.Named("job", j.ID)}
}
