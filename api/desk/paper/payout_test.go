package paper

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// outrun is the database of a process that is outrun at one of the revisions that it writes: something else is done
// before that is sent. If died is not nil, the process dies then: it is closed, and nothing that the process writes
// afterwards comes to an end before the test does.
type outrun struct {
	driver.Conn
	left      atomic.Int64 // revisions until then
	meanwhile func()
	died      chan struct{}
	over      <-chan struct{}
}

func (o *outrun) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if o.died != nil && o.left.Load() <= 0 {
		<-o.over
		return nil, errKilled
	}
	b, err := o.Conn.PrepareBatch(ctx, text, opts...)
	if err == nil && strings.Contains(text, "record_log") {
		return &outrunBatch{b, o}, nil
	}
	return b, err
}

type outrunBatch struct {
	driver.Batch
	o *outrun
}

func (b *outrunBatch) Send() error {
	if b.o.left.Add(-1) != 0 {
		return b.Batch.Send()
	}
	b.o.meanwhile()
	err := b.Batch.Send()
	if b.o.died != nil {
		close(b.o.died)
	}
	return err
}

// outrunAt is a process that is outrun at a revision, and dies then if died is not nil.
func (d *Papers) outrunAt(t *testing.T, revision int64, died chan struct{}, meanwhile func()) (*Papers, *outrun) {
	o := &outrun{Conn: d.DB, meanwhile: meanwhile, died: died, over: t.Context().Done()}
	o.left.Store(revision)
	return open(t, o, 2), o
}

// owing is an owner with two statements: by the first they owe, and the second is to be paid.
type owing struct {
	*Papers
	owner, car string
	all        []rec
	sum        int64 // what all statements come to
}

func (d *Papers) owing(t *testing.T, name string) *owing {
	t.Helper()
	owner := d.person(t, name)
	o := &owing{Papers: d, owner: owner, car: d.car(t, name, owner)}
	o.tells(t, "2026-01", -100)
	o.tells(t, "2026-02", 300)
	return o
}

func (o *owing) tells(t *testing.T, month string, amount int64) {
	t.Helper()
	o.earns(t, o.car, month+"-10", amount)
	o.all = append(o.all, o.tell(t, o.owner, month, amount, amount))
	o.sum += amount
}

// pay has a process pay the second statement.
func (o *owing) pay(ctx context.Context, process *Papers) error {
	_, err := process.PayOwner(ctx, by, account, o.all[1].ID, Payout{}, anyRevision)
	return err
}

// settled fails the test unless all statements are paid once whoever died is followed and the second was paid again.
func (o *owing) settled(t *testing.T, what string) {
	t.Helper()
	now = now.Add(time.Minute)
	if err := o.Store.Resume(t.Context(), now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := o.pay(t.Context(), o.Papers); err != nil && fleet.CodeOf(err) != fleet.CodeTransition {
		t.Errorf("%s: paid in the end: %v", what, err)
	}
	stands, paid, told := map[string]int64{}, int64(0), map[string]int64{}
	for _, id := range o.payoutsOf(t, o.owner) {
		e, err := o.Expenses.Get(t.Context(), account, id)
		if err != nil {
			t.Fatal(err)
		}
		stands[fleet.FormatID(fleet.ExpensePrefix, id)] = e.Body.Amount.Amount
		paid += e.Body.Amount.Amount
	}
	for _, r := range o.all {
		p, err := o.Log(record.OwnerStatements).Get(t.Context(), account, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		told[p.Body.PayoutID] += p.Body.Total.Amount
	}
	if fmt.Sprint(stands) != fmt.Sprint(told) || paid != o.sum {
		t.Errorf("%s: the payouts %v stand, statements say that they are paid by %v, want %d in all", what, stands, told, o.sum)
	}
}

// Whoever pays a statement is outrun before one of the three revisions that this takes: its payout is voided and the
// process dies, or another pays it and voids that. In the end each statement is paid by a payout that stands and counts
// it.
func TestWhoIsOutrunWhilePayingPaysOnce(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	for dies, steps := range map[bool][]int64{true: {2, 3}, false: {1, 2}} {
		for _, step := range steps {
			what := fmt.Sprintf("dies %v at %d", dies, step)
			o := d.owing(t, what)
			var died chan struct{}
			if dies {
				died = make(chan struct{})
			}
			process, conn := d.outrunAt(t, step, died, func() {
				if !dies {
					_ = o.pay(t.Context(), d) // which fails if it is paid already
				}
				d.voidPayoutsOf(t, o.owner)
			})
			returned := make(chan struct{})
			go func() {
				defer close(returned)
				_ = o.pay(t.Context(), process)
			}()
			select {
			case <-died:
			case <-returned:
			}
			if conn.left.Load() > 0 {
				t.Fatalf("%s: paying takes fewer revisions, so this proves nothing", what)
			}
			o.settled(t, what)
		}
	}
}

// Two pay a statement at once, and the owner owes by another that was made when the first had looked and the second had
// not: what the payout does not count is owed still, and is taken off the next one.
func TestWhatAPayoutDoesNotCountIsStillOwed(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	o := d.owing(t, "Olga")
	var other sync.WaitGroup
	paid, reached := make(chan struct{}), make(chan struct{})
	first, _ := d.outrunAt(t, 1, nil, func() {
		o.tells(t, "2026-03", -50)
		second, _ := d.outrunAt(t, 1, nil, func() { close(reached); <-paid })
		other.Go(func() { _ = o.pay(t.Context(), second) }) // which fails if it finds the statement paid
		<-reached
	})
	if err := o.pay(t.Context(), first); err != nil {
		t.Error(err)
	}
	close(paid)
	other.Wait()
	o.tells(t, "2026-04", 80)
	if _, err := d.PayOwner(t.Context(), by, account, o.all[3].ID, Payout{}, anyRevision); err != nil {
		t.Error(err)
	}
	o.settled(t, "two at once")
}

// Whoever pays a statement dies before the payout is posted, and nobody repeats that: what the owner owes by the other
// statement is owed again a while later, and is taken off the next one that is paid.
func TestWhoDiesBeforeThePayoutLeavesNothingPaidByIt(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	o := d.owing(t, "Osman")
	o.tells(t, "2026-03", 300)
	o.dies(t, 1)
	now = now.Add(10 * time.Minute)
	if err := o.Store.Resume(t.Context(), now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	p, err := o.Log(record.OwnerStatements).Get(t.Context(), account, o.all[0].ID)
	if err != nil || p.Body.Status != record.PaperIssued || p.Body.PayoutID != "" {
		t.Errorf("it is %s by %q, though no payout was posted, %v", p.Body.Status, p.Body.PayoutID, err)
	}
	if _, err := d.PayOwner(t.Context(), by, account, o.all[2].ID, Payout{}, anyRevision); err != nil {
		t.Fatal(err)
	}
	e, err := o.Expenses.Get(t.Context(), account, o.payoutsOf(t, o.owner)[0])
	if err != nil || e.Body.Amount.Amount != 200 {
		t.Errorf("%v is paid, want 200, %v", e.Body.Amount, err)
	}
	o.settled(t, "another was paid")
}

// It is repeated long after, at the moment at which the other statement would be opened again: the payout counts it,
// and it stays paid.
func TestAPayoutThatIsRepeatedLateCountsWhatItSays(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	o := d.owing(t, "Olaf")
	o.dies(t, 1)
	now = now.Add(10 * time.Minute)
	again, conn := d.outrunAt(t, 3, nil, func() {
		_ = o.Store.Resume(t.Context(), now.Add(-time.Hour)) // which says that a payout is not posted yet
	})
	if err := o.pay(t.Context(), again); err != nil || conn.left.Load() > 0 {
		t.Fatalf("%v, %d revisions are left", err, conn.left.Load())
	}
	o.settled(t, "repeated")
}

// dies has a process that pays the second statement die at a revision.
func (o *owing) dies(t *testing.T, revision int64) {
	t.Helper()
	died := make(chan struct{})
	process, _ := o.outrunAt(t, revision, died, func() {})
	go func() { _ = o.pay(t.Context(), process) }()
	<-died
}

// payoutsOf are the payouts to an owner that stand.
func (d *Papers) payoutsOf(t *testing.T, owner string) (ids []uint64) {
	t.Helper()
	if err := d.DB.QueryRow(t.Context(), `SELECT groupArray(id) FROM expenses FINAL WHERE category = 'owner_payout'
		AND status = 'posted' AND JSONExtractString(body, 'owner_customer_id') = ?`, owner).Scan(&ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// voidPayoutsOf takes what was paid to an owner out of the books.
func (d *Papers) voidPayoutsOf(t *testing.T, owner string) {
	t.Helper()
	for _, id := range d.payoutsOf(t, owner) {
		if _, err := d.Expenses.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Expense]) error {
			return record.Void(r, record.InstantOf(now), "")
		}); err != nil {
			t.Fatal(err)
		}
	}
}
