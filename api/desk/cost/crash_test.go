//go:build long

package cost_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
)

var errDied = errors.New("the process died here")

// dying is the database of a process that dies at one of its inserts: before it, or after it. From then on the process
// writes nothing.
type dying struct {
	driver.Conn
	left   atomic.Int64 // inserts until then
	before bool
	die    context.CancelFunc
}

func (d *dying) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if d.left.Load() <= 0 {
		return nil, errDied
	}
	b, err := d.Conn.PrepareBatch(ctx, text, opts...)
	return &dyingBatch{b, d}, err
}

type dyingBatch struct {
	driver.Batch
	d *dying
}

func (b *dyingBatch) Send() error {
	left := b.d.left.Add(-1)
	if left > 0 {
		return b.Batch.Send()
	}
	defer b.d.die()
	if left == 0 && !b.d.before {
		return errors.Join(b.Batch.Send(), errDied)
	}
	return errors.Join(b.Batch.Abort(), errDied)
}

// year is what a van has made in a year and a day: its purchase, thirteen months, and three payments in two parts.
const year = 1 + 13 + 2*3

// once fails the test unless the van's year is in the books, each expense once.
func (o *office) once() {
	o.t.Helper()
	if n := o.count("SELECT count() FROM record_log WHERE kind = 'expense'"); n != year {
		o.t.Errorf("%d revisions of expenses, want %d", n, year)
	}
	if n := o.count("SELECT count() FROM expenses FINAL WHERE status = 'posted'"); n != year {
		o.t.Errorf("%d expenses, want %d", n, year)
	}
	if n := o.count("SELECT count() FROM ledger_transactions"); n != year {
		o.t.Errorf("%d transactions, want %d", n, year)
	}
	o.want("books", o.books("2025-12-31"), "accumulated_depreciation -182500, cash -367131, cost.depreciation 182500, "+
		"cost.loan_interest 2131, fixed_asset 365000")
}

// However often processes die, each at another insert, every expense is made once, and once it is in the books.
func TestProcessesThatDieMakeEachExpenseOnce(t *testing.T) {
	o := open(t, "2026-01-01")
	o.vehicle(van())
	died := 0
	for n := range 12 {
		ctx, die := context.WithCancel(t.Context())
		d := &dying{Conn: o.db, before: n%2 == 0, die: die}
		d.left.Store(int64(1 + n*5%13))
		p := o.process(uint64(2+n), d)
		p.Costs.WriteMost = 2
		if err := p.Costs.Post(ctx); ctx.Err() != nil {
			t.Logf("process %d died: %v", n, err)
			died++
		}
		die()
	}
	if died < 6 {
		t.Errorf("%d processes died", died)
	}
	o.at("2026-01-02")
	o.post()
	if err := o.Store.Resume(t.Context(), (*o.now.Load()).AddDate(-1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	o.once()
}

// Who dies between the expenses and the note of it, or loses all notes, looks again and makes nothing twice.
func TestANoteThatIsLostMakesNothingTwice(t *testing.T) {
	o := open(t, "2026-01-01")
	o.vehicle(van())
	p := o.process(2, &deaf{o.db})
	if err := p.Costs.Post(t.Context()); !errors.Is(err, errDied) {
		t.Fatalf("%v, want that the note failed", err)
	}
	o.once()
	if n := o.count("SELECT count() FROM schedule_looks"); n != 0 {
		t.Errorf("%d looks are noted", n)
	}
	o.post()
	o.once()
	if err := o.db.Exec(t.Context(), "TRUNCATE TABLE schedule_looks"); err != nil {
		t.Fatal(err)
	}
	o.post()
	o.once()
	// Nor does one whose current records are behind the log.
	if err := o.db.Exec(t.Context(), "TRUNCATE TABLE schedule_looks"); err != nil {
		t.Fatal(err)
	}
	if err := o.db.Exec(t.Context(), "DELETE FROM expenses WHERE id % 2 = 0"); err != nil {
		t.Fatal(err)
	}
	if err := o.Costs.Post(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := o.count("SELECT count() FROM record_log WHERE kind = 'expense'"); n != year {
		t.Errorf("%d revisions of expenses, want %d", n, year)
	}
}

// deaf is a database that takes no notes.
type deaf struct{ driver.Conn }

func (d *deaf) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.HasPrefix(text, "INSERT INTO schedule_looks") {
		return nil, errDied
	}
	return d.Conn.PrepareBatch(ctx, text, opts...)
}

// Several processes at once make what one would.
func TestSeveralProcessesMakeEachExpenseOnce(t *testing.T) {
	o := open(t, "2026-01-01")
	o.vehicle(van())
	var all sync.WaitGroup
	for node := range uint64(4) {
		p := o.process(2+node, o.db)
		all.Go(func() {
			for range 2 {
				if err := p.Costs.Post(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	o.once()
}

// Who comes back after a year posts each month once, so much in a round, and one vehicle does not keep others waiting.
func TestAYearIsCaughtUpInBoundedRounds(t *testing.T) {
	o := open(t, "2025-01-01")
	o.vehicle(van())
	other := van()
	other.Financing, other.Ownership = nil, ""
	id := o.vehicle(other)
	o.Costs.WriteMost = 8
	o.post()
	first := o.count("SELECT count() FROM record_log WHERE kind = 'expense'")
	o.at("2026-01-01")
	for round, before := 1, first; ; round++ {
		if err := o.Costs.Post(t.Context()); err != nil {
			t.Fatal(err)
		}
		made := o.count("SELECT count() FROM record_log WHERE kind = 'expense'")
		if made > before+8 {
			t.Errorf("%d were made in round %d", made-before, round)
		}
		if round == 2 && o.count("SELECT count() FROM expenses FINAL WHERE vehicle_id = concat('veh_', toString(?))", id) < 5 {
			t.Error("one vehicle keeps the other waiting")
		}
		if made == before {
			break
		}
		before = made
	}
	if n := o.count("SELECT count() FROM record_log WHERE kind = 'expense'"); n != year+14 {
		t.Errorf("%d expenses, want %d", n, year+14)
	}
	if n := o.count("SELECT count() FROM expenses FINAL WHERE schedule = 'depreciation'"); n != 26 {
		t.Errorf("%d months, want 26", n)
	}
}

// An expense that is voided while the books are closed, and one that is made then, follow the rule of the books: what
// is late counts on the first open day.
func TestClosedBooksStayClosed(t *testing.T) {
	o := open(t, "2025-03-15")
	if _, err := o.Accounts.Update(t.Context(), by, account, uint64(account), 0,
		func(r *record.Record[record.Account]) error {
			r.Body.BooksClosed = "2025-02-28"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	terms := van()
	terms.Financing, terms.Ownership = nil, ""
	o.vehicle(terms)
	o.post()
	o.want("closed", o.books("2025-02-28"), "")
	o.want("open", o.books("2025-03-15"),
		"accumulated_depreciation -37000, cash -365000, cost.depreciation 37000, fixed_asset 365000")
}
