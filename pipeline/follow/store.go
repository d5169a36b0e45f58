package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/schemas"
)

// row is a row of derivations.
type row struct {
	key        fleet.VehicleKey
	kind       fleet.Kind
	id         uint64
	revision   uint32
	recognised fleet.Millis
	start, end fleet.Millis
	local      time.Time
	open       bool
	deleted    bool
	late       bool
	digest     uint64
	body       []byte
}

// checkpoint is a row of checkpoints; state is nil to drop that of the day.
type checkpoint struct {
	key   fleet.VehicleKey
	day   int64
	at    fleet.Millis
	wake  fleet.Millis
	state []byte
}

// dirtyRow is a row of dirty_spans; from is 0 to clear it.
type dirtyRow struct {
	key     fleet.VehicleKey
	version uint64
	from    fleet.Millis
	jobs    []fleet.JobID
}

// rowKey names a row of derivations.
type rowKey struct {
	key  fleet.VehicleKey
	kind fleet.Kind
	id   uint64
}

// external is a table of vehicles with a time each, which goes along with a query.
func external(ctx context.Context, column string, windows []window) (context.Context, error) {
	table, err := ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"),
		ext.Column(column, "Int64"))
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		if err := table.Append(uint64(w.key.Account), uint64(w.key.Vehicle), int64(w.after)); err != nil {
			return nil, err
		}
	}
	return clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), nil
}

// each runs the query of a name and hands over its rows.
func (f *Follower) each(ctx context.Context, query string, take func(row schemas.Row) error, args ...any) error {
	return schemas.EachRow(ctx, f.deps.DB, "read "+query, schemas.Query(query), args, take)
}

func keyOf(account, vehicle uint64) fleet.VehicleKey {
	return fleet.VehicleKey{Account: fleet.AccountID(account), Vehicle: fleet.VehicleID(vehicle)}
}

// checkpoints calls found with the newest usable checkpoint of each vehicle that lies before its time, given as after.
// One that cannot be read is told in the log and left out: its vehicle is derived from further back.
func (f *Follower) checkpoints(ctx context.Context, windows []window,
	found func(key fleet.VehicleKey, s derive.State, at, wake fleet.Millis)) error {
	ctx, err := external(ctx, "before_ms", windows)
	if err != nil {
		return err
	}
	err = f.each(ctx, "follow_checkpoints", func(row schemas.Row) error {
		var account, vehicle uint64
		var at time.Time
		var text string
		var wake int64
		if err := row.Scan(&account, &vehicle, &at, &text, &wake); err != nil {
			return err
		}
		state, err := derive.Decode([]byte(text))
		if err != nil {
			f.deps.Log.Error("a checkpoint cannot be read and is left out", "vehicle", fleet.VehicleID(vehicle), "error", err)
			return nil
		}
		found(keyOf(account, vehicle), state, fleet.MillisOf(at), fleet.Millis(wake))
		return nil
	}, clickhouse.Named("format", derive.Format))
	if err != nil {
		return fmt.Errorf("load checkpoints of %d vehicles: %w", len(windows), err)
	}
	return nil
}

// storedRowsOf calls found with each row of the vehicles that was recognised after a time or is open.
func (f *Follower) storedRowsOf(ctx context.Context, windows []window,
	found func(key fleet.VehicleKey, k storedRow)) error {
	ctx, err := external(ctx, "after_ms", windows)
	if err != nil {
		return err
	}
	err = f.each(ctx, "follow_known", func(row schemas.Row) error {
		var account, vehicle uint64
		var recognised int64
		var kind, body string
		var k storedRow
		if err := row.Scan(&account, &vehicle, &kind, &k.id, &k.revision, &recognised, &k.open, &k.deleted, &k.late,
			&k.digest, &body); err != nil {
			return err
		}
		k.kind, k.recognised = kindIndex(fleet.Kind(kind)), fleet.Millis(recognised)
		k.mark = storedMark(fleet.Kind(kind), body)
		found(keyOf(account, vehicle), k)
		return nil
	})
	if err != nil {
		return fmt.Errorf("load what is derived of %d vehicles: %w", len(windows), err)
	}
	return nil
}

// mend writes again, as it is, what stands in derivations and not in the table of its kind. An insert and what its
// views add to are not one step for a server that is killed; and what is stored already would not be written again.
// Nothing is told.
func (f *Follower) mend(ctx context.Context, windows []window) error {
	with, err := external(ctx, "after_ms", windows)
	if err != nil {
		return err
	}
	var torn []rowKey
	err = f.each(with, "follow_torn", func(row schemas.Row) error {
		var account, vehicle, id uint64
		var kind string
		if err := row.Scan(&account, &vehicle, &kind, &id); err != nil {
			return err
		}
		torn = append(torn, rowKey{keyOf(account, vehicle), fleet.Kind(kind), id})
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare what is derived of %d vehicles: %w", len(windows), err)
	}
	if len(torn) == 0 {
		return nil
	}
	stored, err := f.rows(ctx, torn)
	if err != nil {
		return err
	}
	f.deps.Log.Warn("an insert was cut off; its rows are written again", "rows", len(stored))
	return f.commit(ctx, &outbox{rows: slices.Collect(maps.Values(stored))})
}

// rows returns the stored rows of given names.
func (f *Follower) rows(ctx context.Context, wanted []rowKey) (map[rowKey]row, error) {
	found := make(map[rowKey]row, len(wanted))
	if len(wanted) == 0 {
		return found, nil
	}
	table, err := ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"),
		ext.Column("kind", "String"), ext.Column("id", "UInt64"))
	if err != nil {
		return nil, err
	}
	for _, w := range wanted {
		if err := table.Append(uint64(w.key.Account), uint64(w.key.Vehicle), string(w.kind), w.id); err != nil {
			return nil, err
		}
	}
	err = f.each(clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), "follow_rows",
		func(stored schemas.Row) error {
			var account, vehicle uint64
			var recognised, start, end int64
			var kind, body string
			var r row
			if err := stored.Scan(&account, &vehicle, &kind, &r.id, &r.revision, &recognised, &start, &end, &r.local, &r.open,
				&r.deleted, &r.late, &r.digest, &body); err != nil {
				return err
			}
			r.key, r.kind, r.body = keyOf(account, vehicle), fleet.Kind(kind), []byte(body)
			r.recognised, r.start, r.end = fleet.Millis(recognised), fleet.Millis(start), fleet.Millis(end)
			found[rowKey{r.key, r.kind, r.id}] = r
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("load %d derived rows: %w", len(wanted), err)
	}
	return found, nil
}

// kindIndex returns the place of a kind in fleet.Kinds.
func kindIndex(k fleet.Kind) uint8 { return uint8(max(slices.Index(fleet.Kinds, k), 0)) }

// markOf returns what makes a difference to somebody who waits for it, although the thing just goes on: the peak of an
// alert, the dwell time of a visit, the stops of a route run.
func markOf(e fleet.Entity) uint64 {
	switch e := e.(type) {
	case *fleet.Alert:
		if e.Peak != nil {
			return math.Float64bits(*e.Peak)
		}
	case *fleet.Visit:
		return uint64(e.DwelledAt)
	case *fleet.RouteRun:
		return e.Progress()
	}
	return 0
}

// storedMark is markOf for a stored body.
func storedMark(kind fleet.Kind, body string) uint64 {
	switch {
	case body == "":
		return 0
	case kind == fleet.KindAlert:
		var a fleet.Alert
		if json.Unmarshal([]byte(body), &a) == nil {
			return markOf(&a)
		}
	case kind == fleet.KindRun:
		var r fleet.RouteRun
		if json.Unmarshal([]byte(body), &r) == nil {
			return markOf(&r)
		}
	case kind == fleet.KindVisit:
		var v fleet.Visit
		if json.Unmarshal([]byte(body), &v) == nil {
			return markOf(&v)
		}
	}
	return 0
}

// outbox is what a run is to leave behind.
type outbox struct {
	events      []fleet.Event
	rows        []row
	checkpoints []checkpoint
	steps       []jobStep
	judged      []judgedRow
}

// judgedRow is a stored position that is to be flagged otherwise.
type judgedRow struct {
	key fleet.VehicleKey
	derive.Verdict
}

// jobStep is a finished step of a job.
type jobStep struct {
	account fleet.AccountID
	job     fleet.JobID
	vehicle fleet.VehicleID
}

// commit publishes the events, then writes the rows, then the rest. After an error some of it may be there.
func (f *Follower) commit(ctx context.Context, o *outbox) error {
	if len(o.events) > 0 {
		if err := f.deps.Events.PublishEvents(ctx, o.events); err != nil {
			return fmt.Errorf("publish %d events: %w", len(o.events), err)
		}
		f.deps.Metrics.events.Add(float64(len(o.events)))
	}
	if err := f.markJudged(ctx, o.judged); err != nil {
		return err
	}
	if err := f.flag(ctx, o.judged); err != nil {
		return err
	}
	now := f.deps.Now().UTC()
	err := insert(ctx, f.deps.DB,
		"INSERT INTO derivations (account, vehicle, kind, id, revision, recognised_at, start_at, end_at, local_date, "+
			"open, deleted, late, digest, written_at, body)", o.rows, func(b driver.Batch, r *row) error {
			return b.Append(uint64(r.key.Account), uint64(r.key.Vehicle), string(r.kind), r.id, r.revision, r.recognised.Time(),
				r.start.Time(), r.end.Time(), r.local, r.open, r.deleted, r.late, r.digest, now, string(r.body))
		})
	if err != nil {
		return fmt.Errorf("insert %d derivations: %w", len(o.rows), err)
	}
	f.deps.Metrics.rows.Add(float64(len(o.rows)))
	err = insert(ctx, f.deps.DB,
		"INSERT INTO checkpoints (account, vehicle, day, version, at, wake_at, format, dropped, state)", o.checkpoints,
		func(b driver.Batch, c *checkpoint) error {
			var wake *time.Time
			if c.wake != 0 {
				t := c.wake.Time()
				wake = &t
			}
			return b.Append(uint64(c.key.Account), uint64(c.key.Vehicle), time.UnixMilli(c.day*int64(day)).UTC(), f.version(),
				time.UnixMilli(int64(c.at)).UTC(), wake, derive.Format, c.state == nil, string(c.state))
		})
	if err != nil {
		return fmt.Errorf("insert %d checkpoints: %w", len(o.checkpoints), err)
	}
	err = insert(ctx, f.deps.DB, "INSERT INTO job_steps (account, job, step, at, error)", o.steps,
		func(b driver.Batch, s *jobStep) error {
			return b.Append(uint64(s.account), uint64(s.job), uint64(s.vehicle), now, "")
		})
	if err != nil {
		return fmt.Errorf("insert %d steps of jobs: %w", len(o.steps), err)
	}
	return nil
}

// flag writes positions again with the flag of a jump, or without it.
func (f *Follower) flag(ctx context.Context, all []judgedRow) error {
	if len(all) == 0 {
		return nil
	}
	table, err := ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"),
		ext.Column("at_ms", "Int64"), ext.Column("device", "UInt64"), ext.Column("flagged", "UInt32"))
	if err != nil {
		return err
	}
	for _, j := range all {
		flagged := fleet.Flags(0)
		if j.Jump {
			flagged = fleet.FlagJump
		}
		if err := table.Append(uint64(j.key.Account), uint64(j.key.Vehicle), int64(j.At), uint64(j.Device),
			uint32(flagged)); err != nil {
			return err
		}
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(table))
	if err := f.deps.DB.Exec(ctx, schemas.Query("follow_flag"),
		clickhouse.Named("flag", uint32(fleet.FlagJump))); err != nil {
		return fmt.Errorf("flag %d positions: %w", len(all), err)
	}
	return nil
}

// writeDirty writes rows of dirty_spans.
func (f *Follower) writeDirty(ctx context.Context, all []dirtyRow) error {
	err := insert(ctx, f.deps.DB, "INSERT INTO dirty_spans (account, vehicle, version, from_at, jobs)", all,
		func(b driver.Batch, d *dirtyRow) error {
			var from *time.Time
			if d.from != 0 {
				t := d.from.Time()
				from = &t
			}
			jobs := make([]uint64, len(d.jobs))
			for i, j := range d.jobs {
				jobs[i] = uint64(j)
			}
			return b.Append(uint64(d.key.Account), uint64(d.key.Vehicle), d.version, from, jobs)
		})
	if err != nil {
		return fmt.Errorf("insert %d dirty spans: %w", len(all), err)
	}
	return nil
}

func insert[T any](ctx context.Context, db driver.Conn, statement string, all []T,
	add func(driver.Batch, *T) error) error {
	if len(all) == 0 {
		return nil
	}
	batch, err := db.PrepareBatch(ctx, statement)
	if err != nil {
		return err
	}
	for i := range all {
		if err := add(batch, &all[i]); err != nil {
			_ = batch.Abort()
			return err
		}
	}
	return batch.Send()
}

// version returns a number above all that this process gave before, and in all likelihood above those of earlier ones.
func (f *Follower) version() uint64 {
	now := uint64(f.deps.Now().UnixNano())
	for {
		last := f.lastVersion.Load()
		next := max(now, last+1)
		if f.lastVersion.CompareAndSwap(last, next) {
			return next
		}
	}
}

// loadWakes calls found with every vehicle that has a checkpoint, and when silence will mean something.
func (f *Follower) loadWakes(ctx context.Context, found func(key fleet.VehicleKey, wake fleet.Millis)) error {
	err := f.each(ctx, "follow_wakes", func(row schemas.Row) error {
		var account, vehicle uint64
		var wake int64
		if err := row.Scan(&account, &vehicle, &wake); err != nil {
			return err
		}
		found(keyOf(account, vehicle), fleet.Millis(wake))
		return nil
	}, clickhouse.Named("format", derive.Format))
	if err != nil {
		return fmt.Errorf("load wake times: %w", err)
	}
	return nil
}

// loadDirty calls found with every span that is to be derived again.
func (f *Follower) loadDirty(ctx context.Context,
	found func(key fleet.VehicleKey, from fleet.Millis, jobs []fleet.JobID)) error {
	err := f.each(ctx, "follow_dirty", func(row schemas.Row) error {
		var account, vehicle uint64
		var from int64
		var ids []uint64
		if err := row.Scan(&account, &vehicle, &from, &ids); err != nil {
			return err
		}
		jobs := make([]fleet.JobID, len(ids))
		for i, id := range ids {
			jobs[i] = fleet.JobID(id)
		}
		found(keyOf(account, vehicle), max(fleet.Millis(from), 1), jobs)
		return nil
	})
	if err != nil {
		return fmt.Errorf("load dirty spans: %w", err)
	}
	return nil
}

// histories calls found with each of the vehicles that has fixes before its time, given as after.
func (f *Follower) histories(ctx context.Context, windows []window,
	found func(key fleet.VehicleKey, fixes int, first fleet.Millis)) error {
	ctx, err := external(ctx, "before_ms", windows)
	if err != nil {
		return err
	}
	_, signals := f.wanted(windows...)
	err = f.each(ctx, "follow_history", func(row schemas.Row) error {
		var account, vehicle, fixes uint64
		var first int64
		if err := row.Scan(&account, &vehicle, &fixes, &first); err != nil {
			return err
		}
		found(keyOf(account, vehicle), int(fixes), fleet.Millis(first))
		return nil
	}, clickhouse.Named("signals", signals))
	if err != nil {
		return fmt.Errorf("count fixes of %d vehicles: %w", len(windows), err)
	}
	return nil
}

// newest notes in each of the vehicles the time of its newest stored input after its state; windows are of the
// same vehicles.
func (f *Follower) newest(ctx context.Context, windows []window, vehicles map[fleet.VehicleKey]*vehicle) error {
	if len(windows) == 0 {
		return nil
	}
	for i := range windows {
		windows[i].after, windows[i].until = vehicles[windows[i].key].state.Reached(), 1<<60
	}
	table, bounds, err := spans(windows)
	if err != nil {
		return err
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(table))
	_, signals := f.wanted(windows...)
	err = f.each(ctx, "follow_newest", func(row schemas.Row) error {
		var account, vehicle uint64
		var at int64
		if err := row.Scan(&account, &vehicle, &at); err != nil {
			return err
		}
		vehicles[keyOf(account, vehicle)].storedUntil = fleet.Millis(at)
		return nil
	}, bounds[0], clickhouse.Named("signals", signals))
	if err != nil {
		return fmt.Errorf("load newest inputs of %d vehicles: %w", len(windows), err)
	}
	return nil
}

// cut returns up to when what there was of an account is deleted, or just being deleted: it is noted before the
// first row goes.
func (f *Follower) cut(ctx context.Context, account fleet.AccountID) (fleet.Millis, error) {
	var cut int64
	if err := f.deps.DB.QueryRow(ctx, schemas.Query("retention_cut_of"),
		clickhouse.Named("account", uint64(account))).Scan(&cut); err != nil {
		return 0, fmt.Errorf("read up to when account %s is deleted: %w", account, err)
	}
	return fleet.Millis(cut), nil
}

// daysAfter returns the times of a vehicle's checkpoints after a time.
func (f *Follower) daysAfter(ctx context.Context, key fleet.VehicleKey, after fleet.Millis) ([]fleet.Millis, error) {
	var all []fleet.Millis
	err := f.each(ctx, "follow_days", func(row schemas.Row) error {
		var at int64
		if err := row.Scan(&at); err != nil {
			return err
		}
		all = append(all, fleet.Millis(at))
		return nil
	}, clickhouse.Named("account", uint64(key.Account)), clickhouse.Named("vehicle", uint64(key.Vehicle)),
		clickhouse.Named("after", int64(after)))
	if err != nil {
		return nil, fmt.Errorf("load checkpoints of %s: %w", key.Vehicle, err)
	}
	return all, nil
}
