package schemas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Retained is a table from which what is older than an account's retention goes.
type Retained struct {
	Table string
	Time  string // the column of event time that decides
	but   string // what stays all the same, as a condition
	keeps string // the query that notes it for a turn beforehand, if that must not change while rows go
}

// What began before the cut and goes on, or ended after it, stays: in derivations it is noted beforehand, because
// the newest revision of a row may go before its older ones; and the tables of its kinds, which come later, keep
// what stands there.
const (
	butNoted = `AND (account, vehicle, %s) NOT IN
        (SELECT account, vehicle, id FROM retention_keeps WHERE turn = {turn:UInt64})
    AND (SELECT count() FROM retention_keeps WHERE turn = {turn:UInt64}) = {kept:UInt64}`
	butDerived = `AND (account, vehicle, id) NOT IN (SELECT account, vehicle, id FROM derivations
        WHERE account IN {accounts:Array(UInt64)} AND start_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC'))`
)

// Retention lists the tables from which Retain deletes, in its order: a table comes before those that views fill from
// it, so that nothing looks lost in them, or is filled in again.
var Retention = []Retained{
	{Table: "positions", Time: "fix_time"},
	{Table: "positions_by_cell", Time: "fix_time"},
	{Table: "telemetry", Time: "time"},
	{Table: "tag_reports", Time: "time"},
	{Table: "telemetry_1m", Time: "bucket"},
	{Table: "telemetry_1h", Time: "bucket"},
	{Table: "telemetry_1d", Time: "bucket"},
	{Table: "derivations", Time: "start_at", keeps: "retention_keep_derived", but: fmt.Sprintf(butNoted, "id")},
	{Table: "trips", Time: "start_at", but: butDerived},
	{Table: "stops", Time: "start_at", but: butDerived},
	{Table: "charges", Time: "start_at", but: butDerived},
	{Table: "visits", Time: "start_at", but: butDerived},
	{Table: "geofence_days", Time: "local_date"},
	{Table: "driving_events", Time: "start_at", but: butDerived},
	{Table: "alerts", Time: "start_at", but: butDerived},
	{Table: "route_runs", Time: "start_at", but: butDerived},
	{Table: "checkpoints", Time: "day", keeps: "retention_keep_checkpoints", but: fmt.Sprintf(butNoted, "toUInt64(day)")},
	{Table: "events", Time: "at"},
	{Table: "heard_hours", Time: "hour"},
	{Table: "dead_letters", Time: "at"},
	{Table: "credential_audit", Time: "at"}, // 400 days by itself
}

// Bounds of a turn.
const (
	retainAccounts = 1000 // in one statement
	retainPoll     = 30 * time.Millisecond
	retainWait     = 2 * time.Minute // for the mutations of a table; the next turn goes on with it
	retainSpare    = uint64(1 << 30) // bytes that stay free beside what a mutation needs
)

// Retain deletes what became older than the retention of its account, once a day: one mutation a table for all accounts
// of the same retention. It may be run by any number of processes, and killed: what another one does is waited for,
// what is gone is not deleted again, and a day counts as done when nothing of it is left.
func Retain(ctx context.Context, db driver.Conn, now time.Time) error {
	type due struct {
		before   int64
		accounts []uint64
	}
	var all []due
	err := EachRow(ctx, db, "read what the retention is to delete", Query("retention_due"), []any{
		clickhouse.Named("now", now.UnixMilli()),
	}, func(row Row) error {
		var d due
		if err := row.Scan(&d.before, &d.accounts); err != nil {
			return err
		}
		for some := range slices.Chunk(d.accounts, retainAccounts) {
			all = append(all, due{d.before, some})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range all {
		args := []any{clickhouse.Named("accounts", d.accounts), clickhouse.Named("before", d.before)}
		if err := retain(ctx, db, args); err != nil {
			day := time.UnixMilli(d.before).UTC().Format(time.DateOnly)
			return fmt.Errorf("delete what is older than %s of %d accounts: %w", day, len(d.accounts), err)
		}
	}
	return nil
}

// retain deletes what some accounts have from before an instant. Owners of vehicles are told of the cut first.
func retain(ctx context.Context, db driver.Conn, args []any) error {
	if err := db.Exec(ctx, Query("retention_cut"), append(args, clickhouse.Named("done", false))...); err != nil {
		return err
	}
	for _, t := range Retention {
		if err := t.delete(ctx, db, args); err != nil {
			return fmt.Errorf("%s: %w", t.Table, err)
		}
	}
	return db.Exec(ctx, Query("retention_cut"), append(args, clickhouse.Named("done", true))...)
}

// delete deletes from one table, and returns when that is done.
func (t Retained) delete(ctx context.Context, db driver.Conn, args []any) error {
	if err := t.wait(ctx, db); err != nil { // it may be what another process deletes
		return err
	}
	if t.keeps != "" {
		turn := clickhouse.Named("turn", rand.Uint64())
		if err := db.Exec(ctx, Query(t.keeps), append(args[:len(args):len(args)], turn)...); err != nil {
			return err
		}
		var kept uint64
		if err := db.QueryRow(ctx, Query("retention_kept"), turn).Scan(&kept); err != nil {
			return err
		}
		args = append(args[:len(args):len(args)], turn, clickhouse.Named("kept", kept))
	}
	fill := strings.NewReplacer("/*table*/", t.Table, "/*time*/", t.Time, "/*but*/", t.but)
	var left uint64
	row := db.QueryRow(ctx, fill.Replace(Query("retention_left")), args...)
	if err := row.Scan(&left); err != nil || left == 0 {
		return err
	}
	var free, largest uint64
	row = db.QueryRow(ctx, Query("retention_room"), clickhouse.Named("table", t.Table))
	if err := row.Scan(&free, &largest); err != nil {
		return err
	}
	if free > 0 && free < largest+retainSpare {
		return fmt.Errorf("the disk has %d MB free and %d are needed meanwhile: make room",
			free>>20, (largest+retainSpare)>>20)
	}
	if err := db.Exec(ctx, fill.Replace(Query("retention_delete")), args...); err != nil {
		return err
	}
	return t.wait(ctx, db)
}

// wait waits until no mutation of the table goes on.
func (t Retained) wait(ctx context.Context, db driver.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, retainWait)
	defer cancel()
	for {
		var running uint64
		var fault string
		row := db.QueryRow(ctx, Query("retention_running"), clickhouse.Named("table", t.Table))
		if err := row.Scan(&running, &fault); err != nil || running == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d mutations go on, and are waited for again: %w %s", running, ctx.Err(), fault)
		case <-time.After(retainPoll):
		}
	}
}
