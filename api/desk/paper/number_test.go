package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
)

// numbers returns the numbers of the papers of a kind, sorted, and says what is wrong with them as a series.
func (d *Papers) numbers(t testing.TB, kind string) []string {
	t.Helper()
	var papers []struct {
		Number string `ch:"number"`
		Status string `ch:"status"`
		Body   string `ch:"body"`
	}
	if err := d.DB.Select(t.Context(), &papers, `SELECT number, status, body FROM papers FINAL
		WHERE account = 7 AND kind = $1 AND number != '' ORDER BY number`, kind); err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for i, p := range papers {
		var body record.Paper
		if err := json.Unmarshal([]byte(p.Body), &body); err != nil {
			t.Fatal(err)
		}
		if body.Sequence != i+1 || !strings.HasSuffix(p.Number, fmt.Sprintf("-2026-%05d", i+1)) {
			t.Errorf("number %d of the series is %s, %d", i+1, p.Number, body.Sequence)
		}
		numbers = append(numbers, p.Number)
	}
	return numbers
}

// 32 issuers in four processes take numbers at once, some papers being issued by several of them.
func TestNumbersHaveNeitherGapNorDouble(t *testing.T) {
	first := withAccount(t)
	desks := []*Papers{first, open(t, first.DB, 2), open(t, first.DB, 3), open(t, first.DB, 4)}
	const papers = 16
	ids := make([]uint64, papers)
	for i := range ids {
		draft, err := first.bill(t.Context(), first.book(t, charge(fmt.Sprint(i), 1000)...), false)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = draft.ID
	}
	var wg sync.WaitGroup
	numbers := make(chan string, 32*papers)
	for i := range 32 {
		wg.Go(func() {
			d := desks[i%len(desks)]
			for n := i; n < papers+i; n += 8 { // each paper by four issuers
				r, err := d.Issue(t.Context(), by, account, record.Invoices, ids[n%papers], anyRevision)
				var refused *record.TransitionError
				if err != nil && !errors.As(err, &refused) {
					t.Error(err)
				}
				if err == nil {
					numbers <- r.Body.Number
				}
			}
		})
	}
	wg.Wait()
	close(numbers)
	if got := first.numbers(t, "invoice"); len(got) != papers {
		t.Errorf("%d of %d papers have a number", len(got), papers)
	}
	told := map[string]bool{}
	for n := range numbers {
		told[n] = true
	}
	if len(told) != papers {
		t.Errorf("%d numbers were told", len(told))
	}
	if records, claims, err := first.Store.Audit(t.Context()); records+claims != 0 || err != nil {
		t.Errorf("audit: %d, %d, %v", records, claims, err)
	}
}

var errKilled = errors.New("the process died here")

// dying is a database on which the process dies: at one of its inserts into the log, before or after it stands.
type dying struct {
	driver.Conn
	mu    sync.Mutex
	left  int // inserts until it dies
	after bool
	dead  bool
}

func (f *dying) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	f.mu.Lock()
	dead := f.dead
	f.mu.Unlock()
	if dead {
		return nil, errKilled
	}
	b, err := f.Conn.PrepareBatch(ctx, text, opts...)
	if err != nil {
		return b, err
	}
	return &dyingBatch{Batch: b, f: f}, nil
}

type dyingBatch struct {
	driver.Batch
	f *dying
}

func (b *dyingBatch) Send() error {
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	if b.f.dead {
		return errors.Join(b.Batch.Abort(), errKilled)
	}
	if b.f.left--; b.f.left > 0 {
		return b.Batch.Send()
	}
	b.f.dead = true
	if b.f.after {
		return errors.Join(b.Batch.Send(), errKilled)
	}
	return errors.Join(b.Batch.Abort(), errKilled)
}

// A process dies before and after each of the writes that issuing an invoice takes. Whoever comes after it, issuing
// another or doing the duty, leaves neither gap nor double, and what was sealed is numbered.
func TestADeathAtAnyStepLeavesNeitherGapNorDouble(t *testing.T) {
	alive := withAccount(t)
	sealed := 0
	for step := 1; ; step++ {
		whole := false
		for _, after := range []bool{false, true} {
			draft, err := alive.bill(t.Context(), alive.book(t, charge(fmt.Sprint(step, after), 1000)...), false)
			if err != nil {
				t.Fatal(err)
			}
			conn := &dying{Conn: alive.DB, left: step, after: after}
			doomed := open(t, conn, uint64(10+step))
			_, err = doomed.Issue(t.Context(), by, account, record.Invoices, draft.ID, anyRevision)
			whole = err == nil && !conn.dead
			if step%2 == 0 { // another comes before the duty
				other := alive.book(t, charge(fmt.Sprint("x", step, after), 500)...)
				if _, err := alive.bill(t.Context(), other, true); err != nil {
					t.Fatal(err)
				}
				sealed++
			}
			if err := alive.Store.MendNow(t.Context(), record.Invoices.Name); err != nil {
				t.Fatal(err)
			}
			if err := alive.NumberSealed(t.Context(), now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			r, err := alive.Log(record.Invoices).Get(t.Context(), account, draft.ID)
			if err != nil || r.Body.Sealed() != (r.Body.Number != "") {
				t.Fatalf("step %d, %v: %s with the number %q, %v", step, after, r.Body.Status, r.Body.Number, err)
			}
			if r.Body.Number != "" {
				sealed++
			}
		}
		if got := len(alive.numbers(t, "invoice")); got != sealed {
			t.Fatalf("step %d: %d numbers of %d papers", step, got, sealed)
		}
		if whole {
			if step < 6 {
				t.Errorf("issuing took only %d writes: the test proves nothing", step)
			}
			return
		}
	}
}
