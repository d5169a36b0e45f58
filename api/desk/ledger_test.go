package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

var errFlaky = errors.New("the process died here")

// flaky is a database to which inserts into the ledger fail every now and then: before they happen, after, or with some
// months written.
type flaky struct {
	driver.Conn
	rng   *rand.Rand
	fails map[string]int // by what happened
}

func (f *flaky) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	b, err := f.Conn.PrepareBatch(ctx, text, opts...)
	if err != nil || !strings.Contains(text, "INSERT INTO ledger_") {
		return b, err
	}
	return &flakyBatch{Batch: b, f: f, ctx: ctx, text: text}, nil
}

type flakyBatch struct {
	driver.Batch
	f    *flaky
	ctx  context.Context
	text string
	rows [][]any
}

func (b *flakyBatch) Append(row ...any) error {
	b.rows = append(b.rows, row)
	return b.Batch.Append(row...)
}

func (b *flakyBatch) Send() error {
	entries := strings.Contains(b.text, "ledger_entries")
	switch b.f.rng.IntN(6) {
	case 0:
		b.f.fails["before"]++
		return errors.Join(b.Batch.Abort(), errFlaky)
	case 1:
		b.f.fails["after"]++
		return errors.Join(b.Batch.Send(), errFlaky)
	case 2:
		if !entries {
			break
		}
		// Parts of different months come to stand one after the other.
		month := func(row []any) string { return row[1].(time.Time).Format("2006-01") }
		last := month(b.rows[len(b.rows)-1])
		if last == month(b.rows[0]) {
			break
		}
		b.f.fails["between"]++
		part, err := b.f.Conn.PrepareBatch(b.ctx, b.text)
		if err != nil {
			return err
		}
		for _, row := range b.rows {
			if month(row) != last {
				if err := part.Append(row...); err != nil {
					return err
				}
			}
		}
		return errors.Join(b.Batch.Abort(), part.Send(), errFlaky)
	}
	return b.Batch.Send()
}

// history does things to records at random, and knows how they stand.
type history struct {
	t        *testing.T
	d        *Desk
	rng      *rand.Rand
	vehicles []string
	bookings []uint64
	payments []uint64
	expenses []uint64
	journal  []uint64
}

func (h *history) money() record.Money {
	return record.Money{Amount: h.rng.Int64N(100_000) + 1, Currency: []string{"USD", "EUR"}[h.rng.IntN(2)]}
}

func (h *history) day() time.Time {
	return time.Date(2026, 1, 20, 15, 0, 0, 0, time.UTC).AddDate(0, 0, h.rng.IntN(30))
}

func created[T any](h *history, log *record.Log[T], body T) uint64 {
	id := h.d.Store.NextID()
	if _, _, err := log.Create(h.t.Context(), by, account, id, body); err != nil {
		h.t.Fatal(err)
	}
	return id
}

func changed[T any](h *history, log *record.Log[T], ids []uint64, change func(*record.Record[T]) error) {
	if len(ids) == 0 {
		return
	}
	_, err := log.Update(h.t.Context(), by, account, ids[h.rng.IntN(len(ids))], 0, change)
	if err != nil && fleet.CodeOf(err) == "" {
		h.t.Fatal(err)
	}
}

func (h *history) step() {
	switch h.rng.IntN(11) {
	case 0:
		from := h.day()
		h.bookings = append(h.bookings, created(h, h.d.Bookings,
			record.Booking{BookingFields: record.BookingFields{CustomerID: "cus_1", VehicleID: h.vehicles[0],
				PickupAt: record.InstantOf(from), ReturnAt: record.InstantOf(from.AddDate(0, 0, 1+h.rng.IntN(20)))},
				Status: record.BookingConfirmed,
				Charges: []record.Charge{{ID: "chg_1", Type: "time", Amount: h.money()},
					{ID: "chg_2", Type: "tax", Amount: h.money()}}}))
	case 1, 2, 3:
		changed(h, h.d.Bookings, h.bookings, func(r *record.Record[record.Booking]) error {
			b := &r.Body
			switch h.rng.IntN(6) {
			case 5: // corrected, with what that makes of the bill
				b.ActualPickupAt, b.ActualReturnAt = record.InstantOf(h.day()), record.InstantOf(h.day())
				for i := range b.VehicleSwaps {
					b.VehicleSwaps[i].Until = record.InstantOf(h.day())
				}
				b.Charges = append(b.Charges, record.Charge{ID: fmt.Sprintf("chg_%d", len(b.Charges)), Type: "mileage",
					Amount: h.money(), PostedAt: record.InstantOf(h.day())})
			case 0:
				b.Status = record.BookingActive
			case 1:
				b.Status = record.BookingCompleted
			case 2:
				b.VehicleSwaps = append(b.VehicleSwaps,
					record.VehicleSwap{VehicleID: b.VehicleID, Until: record.InstantOf(h.day())})
				b.VehicleID = h.vehicles[h.rng.IntN(len(h.vehicles))]
			default:
				b.Charges = append(b.Charges, record.Charge{ID: fmt.Sprintf("chg_%d", len(b.Charges)),
					Type: []string{"damage", "extra", "toll"}[h.rng.IntN(3)], Amount: h.money(), PostedAt: record.InstantOf(h.day())})
			}
			return nil
		})
	case 4:
		h.payments = append(h.payments, created(h, h.d.Payments, record.Payment{PaymentFields: record.PaymentFields{
			Method: "card", Direction: "in", Amount: h.money(), ReceivedAt: record.InstantOf(h.day())},
			BookedFor: record.BookedFor{VehicleID: h.vehicles[0]}, Status: record.PaymentSucceeded}))
	case 5:
		changed(h, h.d.Payments, h.payments, func(r *record.Record[record.Payment]) error {
			return record.GiveBack(r, record.Refund{ID: fmt.Sprint(h.d.Store.NextID()),
				Amount: record.Money{Amount: h.rng.Int64N(20_000) + 1, Currency: r.Body.Amount.Currency},
				At:     record.InstantOf(h.day())})
		})
	case 6:
		from := h.day()
		h.expenses = append(h.expenses, created(h, h.d.Expenses, record.Expense{ExpenseFields: record.ExpenseFields{
			VehicleID: h.vehicles[1], Category: "insurance", Amount: h.money(), IncurredOn: from.Format(time.DateOnly),
			ServicePeriod: &record.DateRange{From: from.Format(time.DateOnly),
				To: from.AddDate(0, 0, h.rng.IntN(100)).Format(time.DateOnly)}}, Status: record.ExpensePosted}))
	case 7:
		changed(h, h.d.Expenses, h.expenses, func(r *record.Record[record.Expense]) error {
			return record.Void(r, record.InstantOf(h.day()), "")
		})
	case 8:
		if _, err := h.d.Accounts.Update(h.t.Context(), by, account, uint64(account), 0,
			func(r *record.Record[record.Account]) error {
				r.Body.BooksClosed = []string{"", h.day().Format(time.DateOnly)}[h.rng.IntN(2)]
				return nil
			}); err != nil {
			h.t.Fatal(err)
		}
	case 9:
		m := h.money()
		h.journal = append(h.journal, created(h, h.d.Journal, record.JournalEntry{Status: record.JournalPosted,
			JournalEntryFields: record.JournalEntryFields{On: h.day().Format(time.DateOnly), Lines: []record.JournalLine{
				{LedgerAccount: "cash", Debit: &m}, {LedgerAccount: "equity", Credit: &m}}},
			BookedFor: []record.BookedFor{{}, {VehicleID: h.vehicles[1]}}}))
	case 10:
		changed(h, h.d.Journal, h.journal, func(r *record.Record[record.JournalEntry]) error {
			return record.Reverse(r, h.day().AddDate(0, 1, 0).Format(time.DateOnly), record.InstantOf(h.day()), "")
		})
	}
}

// ought is what the records say, by account, currency, day of use and vehicle.
func (h *history) ought() map[string]int64 {
	sums := map[string]int64{}
	add := func(postings []ledger.Posting) {
		for _, p := range postings {
			sums[fmt.Sprint(p.Account, p.Currency, p.Day, number(fleet.VehiclePrefix, p.Vehicle))] += p.Amount
		}
	}
	for _, id := range h.bookings {
		r, err := h.d.Bookings.Get(h.t.Context(), account, id)
		if err != nil {
			h.t.Fatal(err)
		}
		add(ledger.OfBooking("bkg_1", &r.Body, time.UTC))
	}
	for _, id := range h.payments {
		r, err := h.d.Payments.Get(h.t.Context(), account, id)
		if err != nil {
			h.t.Fatal(err)
		}
		add(ledger.OfPayment(&r.Body, time.UTC))
	}
	for _, id := range h.expenses {
		r, err := h.d.Expenses.Get(h.t.Context(), account, id)
		if err != nil {
			h.t.Fatal(err)
		}
		add(ledger.OfExpense(&r.Body))
	}
	for _, id := range h.journal {
		r, err := h.d.Journal.Get(h.t.Context(), account, id)
		if err != nil {
			h.t.Fatal(err)
		}
		add(ledger.OfJournalEntry(&r.Body))
	}
	maps.DeleteFunc(sums, func(_ string, sum int64) bool { return sum == 0 })
	return sums
}

// stands is what the tables say, counted without FINAL: an entry that stands twice would show.
func stands(t *testing.T, db driver.Conn) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	text := `SELECT concat(toString(ledger_account), toString(currency)), toString(use_date), vehicle, sum(amount) AS total
		FROM ledger_entries WHERE account = 7 GROUP BY ALL HAVING total != 0`
	err := schemas.EachRow(t.Context(), db, "read entries", text, nil, func(row schemas.Row) error {
		var name, day string
		var vehicle uint64
		var sum int64
		if err := row.Scan(&name, &day, &vehicle, &sum); err != nil {
			return err
		}
		sums[name+day+" "+fmt.Sprint(vehicle)] = sum
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// spaced makes keys of ought and stands alike.
func spaced(sums map[string]int64) map[string]int64 {
	alike := map[string]int64{}
	for key, sum := range sums {
		alike[strings.ReplaceAll(key, " ", "")] = sum
	}
	return alike
}

// writtenExpense is the first revision of an expense over three months, which has 74 entries: two a day, and four on
// the day of 36 on which it is paid. What is used up before and after comes to stand on other accounts until then, and
// from then on: debits of 1972 in all.
func writtenExpense(id uint64) record.Written {
	return record.Written{Account: account, Kind: "expense", ID: id, Revision: 1, At: time.Now(),
		After: []byte(`{"status":"posted",
		"category":"fuel","amount":{"amount":1000,"currency":"USD"},"incurred_on":"2026-01-01",
		"service_period":{"from":"2025-12-30","until":"2026-02-03"}}`)}
}

func audited(t *testing.T, db driver.Conn) {
	t.Helper()
	if faults, err := query.LedgerAudit(t.Context(), db); err != nil || faults != (query.LedgerFaults{}) {
		t.Errorf("audit: %+v, %v", faults, err)
	}
}

// deskOn opens a desk on a database that others are on too.
func deskOn(t *testing.T, db, ledgerDB driver.Conn, now func() time.Time) *Desk {
	t.Helper()
	store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(1, time.Now), now)
	if err != nil {
		t.Fatal(err)
	}
	return New(store, ledgerDB, now, slog.New(slog.DiscardHandler))
}

// TestWhatWasKilledIsPostedInTheEnd does things at random while postings die in all places, has others settle what is
// left, and finds in the tables exactly what ought to stand, once, also after everything was posted again.
func TestWhatWasKilledIsPostedInTheEnd(t *testing.T) {
	db := schematest.Open(t)
	rng := rand.New(rand.NewPCG(4, 1))
	broken := &flaky{Conn: db, rng: rng, fails: map[string]int{}}
	before := func() time.Time { return time.Now().Add(-5 * time.Minute) }
	d := deskOn(t, db, broken, before)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account), record.Account{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	h := &history{t: t, d: d, rng: rng,
		vehicles: []string{put(t, d, d.Vehicles, record.Vehicle{}), put(t, d, d.Vehicles, record.Vehicle{}), "veh_3"}}
	for range 100 {
		h.step()
	}
	ought := spaced(h.ought())
	if got := spaced(stands(t, db)); maps.Equal(got, ought) || broken.fails["before"] == 0 || broken.fails["after"] == 0 ||
		broken.fails["between"] == 0 {
		t.Fatalf("nothing is missing, though postings died: %v", broken.fails)
	}
	var group sync.WaitGroup
	for range 2 {
		other := deskOn(t, db, db, time.Now)
		group.Go(func() {
			if err := other.Store.SettleConsequences(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	compare := func() {
		t.Helper()
		audited(t, db)
		got := spaced(stands(t, db))
		for _, key := range slices.Sorted(maps.Keys(ought)) {
			if got[key] != ought[key] {
				t.Errorf("%s: %d, want %d", key, got[key], ought[key])
			}
		}
		if len(got) != len(ought) {
			t.Errorf("%d sums, want %d", len(got), len(ought))
		}
		if looked, wrong, err := books.CheckBooks(t.Context(), db, 1000); err != nil || looked == 0 || len(wrong) != 0 {
			t.Errorf("checked %d: %v, %v", looked, wrong, err)
		}
	}
	compare()
	if err := db.Exec(t.Context(), "INSERT INTO ledger_entries SELECT * REPLACE (amount + 1 AS amount, entry_no + 1000 AS entry_no) FROM ledger_entries WHERE kind = 'payment' LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	if faults, err := query.LedgerAudit(t.Context(), db); err != nil || faults.Unbalanced != 1 || faults.Incomplete != 1 {
		t.Errorf("audit of what somebody tampered with: %+v, %v", faults, err)
	}
	if _, wrong, err := books.CheckBooks(t.Context(), db, 1000); err != nil || len(wrong) != 1 {
		t.Errorf("check of what somebody tampered with: %v, %v", wrong, err)
	}
	if err := db.Exec(t.Context(), "TRUNCATE TABLE ledger_entries"); err != nil {
		t.Fatal(err)
	}
	// Everything once more, with the books closed meanwhile.
	if _, err := d.Accounts.Update(t.Context(), by, account, uint64(account), 0,
		func(r *record.Record[record.Account]) error {
			r.Body.BooksClosed = "2026-10-01"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), "TRUNCATE TABLE record_settled"); err != nil {
		t.Fatal(err)
	}
	if err := deskOn(t, db, db, time.Now).Store.SettleConsequences(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare()
}

// A server that was killed may know the tokens of inserts whose rows it does not have: of the transaction, of all its
// entries, or of those of a month.
func TestWhatATokenHidesIsPosted(t *testing.T) {
	db := schematest.Open(t)
	d := deskOn(t, db, db, time.Now)
	w := writtenExpense(1)
	lost := []string{"ledger_entries DELETE WHERE toYYYYMM(local_date) = 202601",
		"ledger_entries DELETE WHERE local_date = '2026-01-07'", "ledger_entries DELETE WHERE 1",
		"ledger_transactions DELETE WHERE 1"}
	for _, what := range append([]string{""}, lost...) {
		if what != "" {
			if err := db.Exec(t.Context(), "ALTER TABLE "+what+" SETTINGS mutations_sync = 1"); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Books.Post(t.Context(), w); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		audited(t, db)
		var entries uint64
		err := db.QueryRow(t.Context(), "SELECT count() FROM ledger_entries").Scan(&entries)
		if err != nil || entries != 74 {
			t.Errorf("%s: %d entries, %v", what, entries, err)
		}
	}
}

// A server that dies when the entries of a posting stand, before anything that is fed by them, leaves no balance
// wrong, as balances are summed from the entries; nor does an entry that was written twice.
func TestBalancesAreThoseOfTheEntries(t *testing.T) {
	db := schematest.Open(t)
	d := deskOn(t, db, db, time.Now)
	var fed []struct {
		Name string `ch:"name"`
	}
	if err := db.Select(t.Context(), &fed, `SELECT name FROM system.tables
		WHERE database = currentDatabase() AND engine = 'MaterializedView'
			AND match(create_table_query, '\\bFROM \\S*ledger_entries\\b')`); err != nil {
		t.Fatal(err)
	}
	for _, view := range fed {
		if err := db.Exec(t.Context(), "DETACH TABLE "+view.Name); err != nil {
			t.Fatal(err)
		}
	}
	w := writtenExpense(1)
	if err := d.Books.Post(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for _, view := range fed {
		if err := db.Exec(t.Context(), "ATTACH TABLE "+view.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Store.SettleConsequences(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		balances, err := query.LedgerBalances(t.Context(), db, query.LedgerFilter{Account: account})
		if err != nil {
			t.Fatal(err)
		}
		entries, debit, sum := 0, int64(0), int64(0)
		for _, b := range balances {
			entries, sum, debit = entries+int(b.Entries), sum+b.Amount, debit+max(b.Amount, 0)
		}
		if entries != 74 || debit != 1000 || sum != 0 {
			t.Errorf("%d entries, %d of debits, in all %d: %+v", entries, debit, sum, balances)
		}
		if err := db.Exec(t.Context(), "INSERT INTO ledger_entries SELECT * FROM ledger_entries LIMIT 9"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARevisionIsPostedOnce has many post one revision at once while the books are closed and opened: one
// transaction stands.
func TestARevisionIsPostedOnce(t *testing.T) {
	config := schematest.Config(t)
	var desks []*Desk
	for range 4 {
		db, err := query.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if desks == nil {
			applySchema(t, db)
		}
		desks = append(desks, deskOn(t, db, db, time.Now))
	}
	d := desks[0]
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account), record.Account{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		w := writtenExpense(uint64(round + 1))
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() {
				if i%4 == 3 {
					_, err := d.Accounts.Update(t.Context(), by, account, uint64(account), 0,
						func(r *record.Record[record.Account]) error {
							r.Body.BooksClosed = []string{"", "2026-01-10", "2026-01-31"}[(round+i/4)%3]
							return nil
						})
					if err != nil {
						t.Error(err)
					}
				}
				if err := desks[i%4].Books.Post(t.Context(), w); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	audited(t, d.DB)
	var rows, entries, transactions uint64
	var amount int64
	if err := d.DB.QueryRow(t.Context(),
		"SELECT count(), uniqExact(transaction, entry_no), uniqExact(transaction), sumIf(amount, amount > 0) FROM ledger_entries").Scan(&rows,
		&entries, &transactions, &amount); err != nil {
		t.Fatal(err)
	}
	if rows != 3*74 || entries != rows || transactions != 3 || amount != 3*1972 {
		t.Errorf("%d rows of %d entries of %d transactions, %d in all", rows, entries, transactions, amount)
	}
}

func applySchema(t *testing.T, db driver.Conn) {
	t.Helper()
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}
