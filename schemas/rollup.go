package schemas

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Rollup is a table of sums that a view fills from the entries of the ledger. Unlike those of Views it is wrong if the
// view makes a row twice or not at all, so what makes it whole again is RepairRollups, which adds the difference.
type Rollup struct {
	Table     string
	key, sums []string // its columns but repair, as <table>_differences.sql answers them
}

// Rollups are the sums of the ledger.
var Rollups = []Rollup{
	{"ledger_days", []string{"account", "local_date", "ledger_account", "currency", "class", "location", "channel"},
		[]string{"amount", "entries", "checksum"}},
	{"ledger_months", []string{"account", "month", "ledger_account", "currency", "vehicle", "class", "location", "channel",
		"customer"}, []string{"amount", "entries", "checksum"}},
	{"ledger_flows", []string{"account", "ledger_account", "local_date", "currency", "kind", "source", "booking",
		"vehicle", "location", "channel", "customer", "purpose"}, []string{"amount", "debits", "entries", "checksum"}},
}

// columns are those of the key and of the sums.
func (r *Rollup) columns() []string { return slices.Concat(r.key, r.sums) }

// lack is what a rollup lacks under a key, by its columns; negative where it has too much.
type lack struct {
	values     []any
	difference uint64 // a hash of all of it
}

// into makes what a column of a rollup is read into.
func into(column string) any {
	switch column {
	case "local_date", "month", "ledger_account", "currency", "channel", "kind", "purpose":
		return new(string)
	case "amount", "debits", "entries":
		return new(int64)
	default:
		return new(uint64)
	}
}

// Repaired is what RepairRollups has put right of a month.
type Repaired struct {
	Table string
	Month string // its first day
	Keys  int    // whose sums were wrong
}

// RollupsApart is how far apart the two looks of a repair are beside live writes: longer than an insert takes.
const RollupsApart = 20 * time.Second

// Bounds of a repair.
const (
	rollupTries = 4       // how often one is sent that the server has not, though it takes it for a repetition
	rollupKeys  = 100_000 // of one, so that it is one part and little memory; the rest is left to the next
)

// RollupMonths returns the months, by their first days, that have entries of records that were written since an
// instant; all of the rollups, if it is zero.
func RollupMonths(ctx context.Context, db driver.Conn, since time.Time) ([]string, error) {
	ms := int64(0)
	if !since.IsZero() {
		ms = max(since.UnixMilli(), 1)
	}
	return AllRows(ctx, db, "find months of the ledger", Query("rollup_months"),
		[]any{clickhouse.Named("since", ms)}, func(month *string, row Row) error { return row.Scan(month) })
}

// FillRollups repairs all months until nothing lacks that is not under way: of a database whose entries are older than
// the views, everything. It goes a year at a time, so that it holds little, and is done at once where nothing lacks.
// Its two looks at a year are apart as those of RepairRollups, and filled is told how many sums of a year were filled
// in.
func FillRollups(ctx context.Context, db driver.Conn, apart time.Duration, filled func(year string, sums int)) error {
	began, changing := time.Now(), false
	months, err := RollupMonths(ctx, db, time.Time{})
	if err != nil {
		return err
	}
	for len(months) > 0 {
		year := slices.IndexFunc(months, func(m string) bool { return m[:4] != months[0][:4] })
		if year < 0 {
			year = len(months)
		}
		done, left, err := repairRollups(ctx, db, months[:year], apart)
		if err != nil {
			return err
		}
		if len(done) == 0 {
			months, changing = months[year:], changing || left
			continue
		}
		sums := 0
		for _, r := range done {
			sums += r.Keys
		}
		filled(months[0][:4], sums)
	}
	if changing {
		return nil
	}
	return noteLook(ctx, db, began)
}

// RepairRollups compares the rollups of the ledger with the entries, in some months, and puts right what a server that
// was killed, or an entry that was written twice, has left wrong. It may run beside live writes, and be run by any
// number of processes.
//
// It looks twice, apart by longer than an insert takes. What is under way at one look is whole at the other, so what
// lacks in both by the same amount, number of entries and sum of their ids is no insert under way: it is added, as
// further rows. What differs otherwise is left to the next repair.
//
// Of several who repair a month at once one does it. A repair has a number, which stands in its rows; who repairs has
// read the number of the last one before the first look, and its token is that of the next. The rows of a repair and
// its number are one part, so they are there together or not at all.
//
// If it finds nothing that lacks, it notes when it began: until then the sums have everything, if its months are those
// of what was written since the look before. What it has repaired, or somebody else in its place, the next look finds
// whole.
func RepairRollups(ctx context.Context, db driver.Conn, months []string, apart time.Duration) ([]Repaired, error) {
	began := time.Now()
	done, left, err := repairRollups(ctx, db, months, apart)
	if err != nil || len(done) > 0 || left {
		return done, err
	}
	return nil, noteLook(ctx, db, began)
}

// repairRollups is RepairRollups without the note; left says that something differs that was not repaired.
func repairRollups(
	ctx context.Context, db driver.Conn, months []string, apart time.Duration,
) (done []Repaired, left bool, err error) {
	type look struct {
		rollup Rollup
		month  string
		last   uint64
		seen   []uint64 // differences
	}
	var first []look
	for _, month := range months {
		for _, r := range Rollups {
			l := look{rollup: r, month: month}
			if l.last, err = r.lastRepair(ctx, db, month); err != nil {
				return nil, false, err
			}
			err = r.eachLack(ctx, db, month, func(lacks lack) { l.seen = append(l.seen, lacks.difference) })
			if err != nil {
				return nil, false, err
			}
			if len(l.seen) > 0 {
				slices.Sort(l.seen)
				first = append(first, l)
			}
		}
	}
	if len(first) == 0 {
		return nil, false, nil
	}
	select {
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case <-time.After(apart):
	}
	for _, l := range first {
		var wrong []lack
		err := l.rollup.eachLack(ctx, db, l.month, func(lacks lack) {
			if _, same := slices.BinarySearch(l.seen, lacks.difference); same && len(wrong) < rollupKeys {
				wrong = append(wrong, lacks)
			} else {
				left = true
			}
		})
		if err != nil {
			return done, left, err
		}
		if len(wrong) == 0 {
			continue
		}
		if err := l.rollup.add(ctx, db, l.month, l.last+1, wrong); err != nil {
			return done, left, err
		}
		done = append(done, Repaired{l.rollup.Table, l.month, len(wrong)})
	}
	return done, left, nil
}

// noteLook notes a look that has found nothing wrong. It has another name whenever there is a further rollup: what a
// version looked at that did not know it says nothing of it, nor does a fill that was cut off.
func noteLook(ctx context.Context, db driver.Conn, began time.Time) error {
	const note = `INSERT INTO rollup_looks (sums, until)
		SELECT 'ledger and its taxes', fromUnixTimestamp64Milli({until:Int64}, 'UTC')`
	if err := db.Exec(ctx, note, clickhouse.Named("until", began.UnixMilli())); err != nil {
		return fmt.Errorf("note the look at the sums of the ledger: %w", err)
	}
	return nil
}

// RollupsLooked returns when the last look began that found nothing wrong, the zero time if none has been.
func RollupsLooked(ctx context.Context, db driver.Conn) (began time.Time, err error) {
	if err := db.QueryRow(ctx, Query("rollup_last_look")).Scan(&began); err != nil {
		return began, fmt.Errorf("read the last look at the sums of the ledger: %w", err)
	}
	if began.UnixMilli() == 0 {
		return time.Time{}, nil
	}
	return began, nil
}

// RollupsAsOf returns until when everything that had been written is in the sums, at most now; the zero time if nobody
// knows yet.
func RollupsAsOf(ctx context.Context, db driver.Conn, now time.Time) (until time.Time, err error) {
	if err := db.QueryRow(ctx, Query("rollup_looked")).Scan(&until); err != nil {
		return until, fmt.Errorf("read until when the sums of the ledger are made: %w", err)
	}
	if until.Unix() <= 0 {
		return time.Time{}, nil
	}
	if until.After(now) {
		until = now
	}
	return until, nil
}

// lastRepair returns the number of the last repair of a month.
func (r *Rollup) lastRepair(ctx context.Context, db driver.Conn, month string) (last uint64, err error) {
	err = db.QueryRow(ctx, Query(r.Table+"_repair"), clickhouse.Named("month", month)).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("read the last repair of %s in %s: %w", r.Table, month, err)
	}
	return last, nil
}

// eachLack hands over what the rollup lacks in a month.
func (r *Rollup) eachLack(ctx context.Context, db driver.Conn, month string, take func(lack)) error {
	return EachRow(ctx, db, "compare "+r.Table+" with the entries", Query(r.Table+"_differences"),
		[]any{clickhouse.Named("month", month)}, func(row Row) error {
			var l lack
			var columns []any
			for _, column := range r.columns() {
				columns = append(columns, into(column))
			}
			if err := row.Scan(append(columns, &l.difference)...); err != nil {
				return err
			}
			for _, column := range columns {
				l.values = append(l.values, reflect.ValueOf(column).Elem().Interface())
			}
			take(l)
			return nil
		})
}

// add adds what lacks as the repair of a number, and returns when it, or another one of that number, stands. A server
// that was killed may know the token and not have the rows: then it goes by the next token.
func (r *Rollup) add(ctx context.Context, db driver.Conn, month string, number uint64, wrong []lack) error {
	doing := fmt.Sprintf("repair %s in %s", r.Table, month)
	for turn := 1; turn <= rollupTries; turn++ {
		token := NextToken(fmt.Sprintf("%s:%s:%d", r.Table, month, number), turn)
		batch, err := db.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
			"insert_deduplication_token": token, "insert_deduplicate": 1, "async_insert": 0})),
			"INSERT INTO "+r.Table+" ("+strings.Join(r.columns(), ", ")+", repair)")
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		for _, l := range wrong {
			if err := batch.Append(append(l.values, number)...); err != nil {
				batch.Abort()
				return fmt.Errorf("%s: %w", doing, err)
			}
		}
		if err := batch.Send(); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		if last, err := r.lastRepair(ctx, db, month); err != nil || last >= number {
			return err
		}
	}
	return fmt.Errorf("%s: ClickHouse takes its rows for a repetition, and does not have them", doing)
}

// sums says whether a table is a rollup of the ledger.
func sums(table string) bool {
	return slices.ContainsFunc(Rollups, func(r Rollup) bool { return r.Table == table })
}
