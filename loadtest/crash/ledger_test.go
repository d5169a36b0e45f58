package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
	"github.com/motorpool/fleet/schemas"
)

// TestRollupsEqualTheLedgerAfterKills has several clients book, pay and enter expenses while ClickHouse is killed again
// and again, and the rollups are repaired beside it, by two at once. In the end the sums of all rollups are those of
// the entries: after the repair, after entries that come once more, after rollups that were lost are filled, and after
// repairs beside live writes.
func TestRollupsEqualTheLedgerAfterKills(t *testing.T) {
	t.Parallel()
	b := openBusiness(t)
	working, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range 6 {
		all.Go(func() { b.work(working, i) })
	}
	for range 2 {
		all.Go(func() { b.repairBeside(working) })
	}
	for kill := 0; kill < ledgerKills; kill++ {
		b.untilPosted(20)
		b.check(b.sys.KillClickHouse(t.Context()))
		b.check(b.sys.StartClickHouse(t.Context()))
	}
	stop()
	all.Wait()
	b.settle()
	entries, wrong := b.count("SELECT count() FROM ledger_entries FINAL"), b.wrong()
	t.Logf("%d posted, %d entries; %d keys of rollups are wrong before the last repair, %d were put right beside the writes",
		b.posted.Load(), entries, wrong, b.repaired.Load())
	if entries < 100 {
		t.Errorf("only %d entries", entries)
	}
	b.whole("kills")
	b.exec("INSERT INTO ledger_entries SELECT * FROM ledger_entries FINAL WHERE transaction % 3 = 0")
	b.whole("entries that came once more")
	b.exec("TRUNCATE TABLE ledger_days")
	b.exec("TRUNCATE TABLE ledger_months")
	b.exec("TRUNCATE TABLE ledger_flows")
	b.whole("rollups that were lost")
	if settleLedger > 0 {
		said, err := b.sys.Output("doctor", "--books", "--repair")
		t.Logf("%s", said)
		b.check(err)
		b.whole("the repair of the command line")
	}
	if left := b.count("SELECT count() FROM ledger_entries FINAL"); left < entries {
		t.Errorf("%d of %d entries are left", left, entries)
	}
}

// business is an account whose books are filled.
type business struct {
	t                *testing.T
	sys              *system.System
	client           systemtest.Client
	serving          *system.Process
	vehicles         []string
	customer         string
	posted, repaired atomic.Int64
}

func openBusiness(t *testing.T) *business {
	t.Helper()
	b := &business{t: t, sys: systemtest.Start(t)}
	b.client = systemtest.Client{Base: b.sys.URL(), Key: systemtest.Key(t, b.sys, "Books",
		"vehicles:read,vehicles:write,bookings:read,bookings:write,customers:read,customers:write,finance:read,finance:write")}
	var err error
	b.serving, err = b.sys.Start("serve")
	b.check(err)
	b.client.Await(t)
	var made struct{ ID string }
	make := func(path string, body map[string]any) string {
		answer := b.client.Do(t.Context(), "POST", path, body)
		if answer.Status != http.StatusCreated {
			t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
		}
		answer.Decode(&made)
		return made.ID
	}
	b.customer = make("/v1/customers", map[string]any{"first_name": "Grace", "last_name": "Hopper"})
	for i := range 6 {
		b.vehicles = append(b.vehicles, make("/v1/vehicles", map[string]any{"make": "Dacia", "model": "Spring",
			"nickname": fmt.Sprint("Spring ", i), "daily_rate": map[string]any{"amount": 4900, "currency": "USD"}}))
	}
	return b
}

func (b *business) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// work books the days of a vehicle one after the other, pays, and enters expenses that are spread over months, until
// ctx ends. What gets no answer is sent again under its key.
func (b *business) work(ctx context.Context, i int) {
	from := time.Now().Add(48 * time.Hour).Truncate(time.Hour)
	for n := 0; ctx.Err() == nil; n++ {
		var booking struct{ ID string }
		b.post(ctx, fmt.Sprintf("book %d %d", i, n), "/v1/bookings", map[string]any{"vehicle_id": b.vehicles[i],
			"customer_id": b.customer, "pickup_at": from, "return_at": from.Add(20 * time.Hour), "confirm": true}, &booking)
		from = from.Add(48 * time.Hour)
		if booking.ID != "" {
			b.post(ctx, fmt.Sprintf("pay %d %d", i, n), "/v1/payments", map[string]any{"booking_id": booking.ID,
				"method": "cash", "amount": map[string]any{"amount": 1000 + n, "currency": "USD"}}, nil)
		}
		b.post(ctx, fmt.Sprintf("spend %d %d", i, n), "/v1/expenses", map[string]any{"category": "parking",
			"vehicle_id": b.vehicles[i], "amount": map[string]any{"amount": 9000 + n, "currency": "USD"},
			"incurred_on": "2026-03-01", "status": "posted",
			"service_period": map[string]any{"from": "2026-01-01", "until": "2026-03-31"}}, nil)
	}
}

// untilPosted returns when so many requests more are answered, and entries have just arrived: what the views make of
// them may be there or not.
func (b *business) untilPosted(n int64) {
	b.t.Helper()
	begun, deadline := b.posted.Load(), time.Now().Add(3*time.Minute)
	for b.posted.Load() < begun+n {
		if time.Now().After(deadline) {
			b.t.Fatal("nothing is posted any more")
		}
		time.Sleep(time.Millisecond)
	}
	for before := b.entries(); b.entries() == before && time.Now().Before(deadline); {
	}
}

// post makes a request until it is answered, and reads what it made.
func (b *business) post(ctx context.Context, key, path string, body map[string]any, made any) {
	for ctx.Err() == nil {
		answer := b.client.Do(ctx, "POST", path, body, "Idempotency-Key", key)
		switch {
		case answer.Status == http.StatusCreated:
			b.posted.Add(1)
			if made != nil {
				answer.Decode(made)
			}
			return
		case answer.Status >= 400 && answer.Status < 500 && answer.Status != http.StatusConflict &&
			answer.Status != http.StatusTooManyRequests:
			b.t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// repairBeside repairs the rollups beside the writes. The looks are less apart than an insert may take, so what it puts
// right may have been under way, and is found doubled by a later one.
func (b *business) repairBeside(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		for _, r := range b.repair(ctx, 500*time.Millisecond) {
			b.repaired.Add(int64(r.Keys))
		}
	}
}

// repair repairs all months; while ClickHouse is away it does nothing.
func (b *business) repair(ctx context.Context, apart time.Duration) []schemas.Repaired {
	months, err := schemas.RollupMonths(ctx, b.sys.DB, time.Time{})
	if err != nil {
		return nil
	}
	done, _ := schemas.RepairRollups(ctx, b.sys.DB, months, apart)
	return done
}

// settle has the process that posts end, so that nothing is under way.
func (b *business) settle() {
	b.t.Helper()
	for deadline := time.Now().Add(settleLedger); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if unposted := b.count("SELECT count() FROM payments FINAL WHERE id NOT IN (SELECT source FROM ledger_entries)"); unposted == 0 {
			break
		}
	}
	_, _, err := b.serving.Stop()
	b.check(err)
}

// whole repairs, and holds what is then in the rollups against the entries.
func (b *business) whole(after string) {
	b.t.Helper()
	for len(b.repair(b.t.Context(), 100*time.Millisecond)) > 0 {
	}
	if wrong := b.wrong(); wrong != 0 {
		b.t.Errorf("after %s %d keys of the rollups differ from the entries", after, wrong)
	}
	for _, query := range []string{
		`SELECT count() FROM (SELECT account, local_date, ledger_account, currency, class, location, channel, sum(amount) AS s,
			count() AS n FROM ledger_entries FINAL GROUP BY ALL) AS e
		FULL JOIN (SELECT account, local_date, ledger_account, currency, class, location, channel, sum(amount) AS s,
			sum(entries) AS n FROM ledger_days GROUP BY ALL HAVING n != 0) AS r
		USING (account, local_date, ledger_account, currency, class, location, channel) WHERE (e.s, e.n) != (r.s, r.n)`,
		`SELECT count() FROM (SELECT ledger_account, currency, vehicle, customer, sum(amount) AS s, count() AS n
			FROM ledger_entries FINAL GROUP BY ALL) AS e
		FULL JOIN (SELECT ledger_account, currency, vehicle, customer, sum(amount) AS s, sum(entries) AS n
			FROM ledger_months GROUP BY ALL HAVING n != 0) AS r
		USING (ledger_account, currency, vehicle, customer) WHERE (e.s, e.n) != (r.s, r.n)`,
		`SELECT count() FROM (SELECT account, local_date, ledger_account, currency, kind, source, booking, customer, purpose,
				sum(amount) AS s, sumIf(amount, amount > 0) AS d, count() AS n
			FROM ledger_entries FINAL WHERE ledger_account IN ('cash', 'accounts_receivable', 'platform_receivable',
				'deposits_held', 'tax_payable', 'tax_receivable') GROUP BY ALL) AS e
		FULL JOIN (SELECT account, local_date, ledger_account, currency, kind, source, booking, customer, purpose,
				sum(amount) AS s, sum(debits) AS d, sum(entries) AS n FROM ledger_flows GROUP BY ALL HAVING n != 0) AS r
		USING (account, local_date, ledger_account, currency, kind, source, booking, customer, purpose)
		WHERE (e.s, e.d, e.n) != (r.s, r.d, r.n)`,
	} {
		if n := b.count(query); n != 0 {
			b.t.Errorf("after %s %d sums differ from the entries", after, n)
		}
	}
}

// wrong counts the keys under which rollups differ from the entries.
func (b *business) wrong() (n int) {
	b.t.Helper()
	months, err := schemas.RollupMonths(b.t.Context(), b.sys.DB, time.Time{})
	b.check(err)
	for _, month := range months {
		for _, r := range schemas.Rollups {
			b.check(schemas.EachRow(b.t.Context(), b.sys.DB, "compare", schemas.Query(r.Table+"_differences"),
				[]any{clickhouse.Named("month", month)}, func(schemas.Row) error { n++; return nil }))
		}
	}
	return n
}

func (b *business) entries() uint64 { return b.count("SELECT count() FROM ledger_entries") }

func (b *business) count(query string) (n uint64) {
	b.t.Helper()
	b.check(b.sys.DB.QueryRow(b.t.Context(), query).Scan(&n))
	return n
}

func (b *business) exec(text string) {
	b.t.Helper()
	b.check(b.sys.DB.Exec(b.t.Context(), text))
}
