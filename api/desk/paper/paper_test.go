package paper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account = fleet.AccountID(7)

var (
	by  = record.Author{Actor: "key_1", RequestID: "req_1"}
	now = time.Date(2026, 11, 2, 15, 0, 0, 0, time.UTC)
)

// open opens the room on a database, as a process of its own does.
func open(t testing.TB, db driver.Conn, node uint64) *Papers {
	t.Helper()
	within := time.Minute
	if _, doomed := db.(*dying); doomed {
		within = 200 * time.Millisecond
	}
	store, err := record.NewStore(record.Config{Deadline: within, Abandoned: 2 * within}, db,
		fleet.NewIDSource(node, time.Now), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	d := New(base.New(store, db, func() time.Time { return now }, slog.New(slog.DiscardHandler)))
	d.Register()
	return d
}

// put writes a new record and returns its id.
func put[T any](t testing.TB, d *Papers, log *record.Log[T], body T) string {
	t.Helper()
	made, err := log.New(t.Context(), by, account, body)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.FormatID(log.Kind().Prefix, made.ID)
}

// withAccount opens the room on a database of its own, in which there is an account.
func withAccount(t testing.TB) *Papers {
	t.Helper()
	d := open(t, schematest.Open(t), 1)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "Lone Star", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// book writes a booking with charges, and returns its id.
func (d *Papers) book(t testing.TB, charges ...record.Charge) string {
	t.Helper()
	return put(t, d, d.Bookings, record.Booking{Status: record.BookingActive, Currency: "USD", Charges: charges})
}

func usd(amount int64) record.Money { return record.Money{Amount: amount, Currency: "USD"} }

// charge is a line of a bill, and the tax of a tenth on it.
func charge(id string, amount int64) []record.Charge {
	return []record.Charge{
		{ID: "chg_" + id, Type: "time", Quantity: 1, UnitPrice: usd(amount), Amount: usd(amount), Taxable: true},
		{ID: "chg_" + id + "t", Type: "tax", Description: "Tax", TaxRateBP: 1000, Quantity: 1, UnitPrice: usd(amount / 10),
			Amount: usd(amount / 10)},
	}
}

// add posts further charges to a booking.
func (d *Papers) add(t testing.TB, booking string, charges ...record.Charge) {
	t.Helper()
	id, _ := fleet.ParseID(fleet.BookingPrefix, booking)
	if _, err := d.Bookings.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Booking]) error {
		r.Body.Charges = append(r.Body.Charges, charges...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (d *Papers) bill(ctx context.Context, booking string, issue bool) (rec, error) {
	return d.Bill(ctx, by, account, d.Store.NextID(), Order{BookingID: booking, Issue: issue})
}

func anyRevision(*rec) error { return nil }

// What is printed is settled when a paper is sealed: later changes of the account, the customer and the booking are on
// the next one.
func TestAnIssuedPaperIsFrozen(t *testing.T) {
	d := withAccount(t)
	customer := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Ada",
		LastName: "Smith", Address: &record.Address{City: "Austin"}}})
	booking := put(t, d, d.Bookings, record.Booking{Status: record.BookingActive, Currency: "USD",
		BookingFields: record.BookingFields{CustomerID: customer}, Charges: charge("1", 10000)})
	invoice, err := d.bill(t.Context(), booking, true)
	if err != nil {
		t.Fatal(err)
	}
	if invoice.Body.Number != "INV-2026-00001" || invoice.Body.Status != record.PaperOpen ||
		invoice.Body.Total != usd(11000) || invoice.Body.IssuedOn != "2026-11-02" {
		t.Errorf("issued %+v", invoice.Body)
	}
	id, _ := fleet.ParseID(fleet.CustomerPrefix, customer)
	if _, err := d.Customers.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Customer]) error {
		r.Body.LastName = "Jones"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Accounts.Update(t.Context(), by, account, 7, 0, func(r *record.Record[record.Account]) error {
		r.Body.Papers = &record.PaperSettings{PaperSeller: record.PaperSeller{LegalName: "Other LLC"},
			Prefixes: map[string]string{"invoice": "RE-"}, DueDays: 14}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d.add(t, booking, charge("2", 5000)...)
	again, err := d.Log(record.Invoices).Get(t.Context(), account, invoice.ID)
	if err != nil || again.Revision != invoice.Revision || again.Body.Seller.LegalName != "Lone Star" {
		t.Errorf("it changed: %+v, %v", again.Body, err)
	}
	named, err := d.Persons(t.Context(), account, []rec{again})
	if err != nil || named[again.ID].To.Name != "Ada Smith" {
		t.Errorf("made out to %+v, %v", named[again.ID], err)
	}
	var refused *record.TransitionError
	if _, err := d.Issue(t.Context(), by, account, record.Invoices, invoice.ID, anyRevision); !errors.As(err, &refused) {
		t.Errorf("issued twice: %v", err)
	}
	if err := d.Discardable(&again); !errors.As(err, &refused) || !strings.Contains(err.Error(), "credit note") {
		t.Errorf("archived: %v", err)
	}
	next, err := d.bill(t.Context(), booking, true)
	if err != nil || next.Body.Number != "RE-2026-00002" || next.Body.Total != usd(5500) ||
		next.Body.DueOn != "2026-11-16" || next.Body.Seller.LegalName != "Other LLC" {
		t.Errorf("the next is %+v, %v", next.Body, err)
	}
	named, err = d.Persons(t.Context(), account, []rec{next})
	if err != nil || named[next.ID].To.Name != "Ada Jones" {
		t.Errorf("made out to %+v, %v", named[next.ID], err)
	}
}

// Over random histories of bookings, invoices less credit notes are what is charged, less what is on no paper; and
// nothing is left in the end.
func TestInvoicesLessCreditNotesAreTheCharges(t *testing.T) {
	d := withAccount(t)
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 18))
		booking := d.book(t, charge("0", 10000)...)
		id, _ := fleet.ParseID(fleet.BookingPrefix, booking)
		var open []record.Charge
		refused := 0
		for step := range 12 {
			switch rng.IntN(5) {
			case 0, 1:
				amount := int64(rng.IntN(9000) - 3000)
				more := charge(fmt.Sprint(seed, "_", step), amount)
				if rng.IntN(4) == 0 {
					more = append(more, record.Charge{ID: fmt.Sprint("chg_p", step), Type: "platform_fee", Amount: usd(-77)})
				}
				d.add(t, booking, more...)
				open = append(open, more[:2]...)
			case 2:
				if len(open) == 0 {
					continue
				}
				at := rng.IntN(len(open))
				back := open[at]
				back.ID, back.ReversalOf = back.ID+"r", back.ID
				back.Amount.Amount, back.Quantity = -back.Amount.Amount, -back.Quantity
				open = slices.Delete(open, at, at+1)
				d.add(t, booking, back)
			case 3:
				order := Order{BookingID: booking, Issue: true}
				made, err := d.Bill(t.Context(), by, account, d.Store.NextID(), order)
				if fleet.CodeOf(err) == fleet.CodeConflict {
					refused++
					_, err = d.Credit(t.Context(), by, account, d.Store.NextID(), order)
				}
				if err != nil && fleet.CodeOf(err) != fleet.CodeConflict {
					t.Fatal(err)
				}
				if err == nil && made.ID != 0 && rng.IntN(3) == 0 {
					back := Order{InvoiceID: fleet.FormatID(fleet.InvoicePrefix, made.ID)}
					note, err := d.Credit(t.Context(), by, account, d.Store.NextID(), back)
					if err != nil || note.Body.Total != made.Body.Total {
						t.Fatalf("taken back by %+v, %v", note.Body, err)
					}
					if _, err := d.Credit(t.Context(), by, account, d.Store.NextID(), back); err == nil {
						t.Error("taken back twice")
					}
				}
			}
			d.agrees(t, id, false)
		}
		for {
			order := Order{BookingID: booking, Issue: true}
			_, err := d.Bill(t.Context(), by, account, d.Store.NextID(), order)
			if fleet.CodeOf(err) == fleet.CodeConflict {
				_, err = d.Credit(t.Context(), by, account, d.Store.NextID(), order)
			}
			if fleet.CodeOf(err) == fleet.CodeConflict {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		d.agrees(t, id, true)
	}
	d.numbers(t, "invoice")
	d.numbers(t, "credit_note")
}

// agrees holds a booking's papers against its charges.
func (d *Papers) agrees(t *testing.T, booking uint64, all bool) {
	t.Helper()
	diff, err := d.Check(t.Context(), account, booking)
	if err != nil || diff.Charged != diff.Invoiced+diff.Open {
		t.Fatalf("%+v, %v", diff, err)
	}
	if all && diff.Open != 0 {
		t.Errorf("left %+v", diff)
	}
	papers, _, err := d.papersOf(t.Context(), account, fleet.FormatID(fleet.BookingPrefix, booking))
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]string{}
	for _, p := range papers {
		sum := int64(0)
		for _, l := range p.Body.Lines {
			sum += l.Amount.Amount
			if was := on[l.ChargeID]; was != "" && paperwork.Counts(&p.Body) {
				t.Fatalf("the charge %s is on %s and %s", l.ChargeID, was, p.Body.Number)
			}
			if paperwork.Counts(&p.Body) {
				on[l.ChargeID] = p.Body.Number
			}
		}
		for _, tax := range p.Body.Taxes {
			sum += tax.Tax.Amount
		}
		if sum != p.Body.Total.Amount || p.Body.Sums[len(p.Body.Sums)-1].Amount != p.Body.Total || sum < 0 {
			t.Fatalf("%s adds up to %d, and says %+v", p.Body.Number, sum, p.Body.Sums)
		}
	}
}

// Ten who bill one booking at once make one paper.
func TestAChargeIsBilledOnce(t *testing.T) {
	d := withAccount(t)
	booking := d.book(t, charge("1", 10000)...)
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 10 {
		wg.Go(func() {
			_, err := d.bill(t.Context(), booking, true)
			if err != nil && fleet.CodeOf(err) != fleet.CodeConflict {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				made++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	id, _ := fleet.ParseID(fleet.BookingPrefix, booking)
	if d.agrees(t, id, true); made != 1 {
		t.Errorf("%d papers were made", made)
	}
}

// An invoice is paid when what was paid for its booking covers it, the oldest first, and open again when it was given
// back.
func TestAnInvoiceIsPaidByThePaymentsOfItsBooking(t *testing.T) {
	d := withAccount(t)
	booking := d.book(t, charge("1", 10000)...)
	status := func(want ...string) {
		t.Helper()
		papers, _, err := d.papersOf(t.Context(), account, booking)
		var got []string
		for _, p := range papers {
			got = append(got, p.Body.Status)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, want %v, %v", got, want, err)
		}
	}
	pay := func(amount int64) string {
		return put(t, d, d.Payments, record.Payment{Status: record.PaymentSucceeded,
			PaymentFields: record.PaymentFields{BookingID: booking, Direction: "in", Amount: usd(amount)}})
	}
	if _, err := d.bill(t.Context(), booking, true); err != nil {
		t.Fatal(err)
	}
	status("open")
	first := pay(10999)
	status("open")
	pay(1)
	status("paid")
	d.add(t, booking, charge("2", 1000)...)
	if _, err := d.bill(t.Context(), booking, true); err != nil {
		t.Fatal(err)
	}
	status("paid", "open")
	pay(1100)
	status("paid", "paid")
	id, _ := fleet.ParseID(fleet.PaymentPrefix, first)
	if _, err := d.Payments.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Payment]) error {
		return record.GiveBack(r, record.Refund{ID: "rfd_1", Amount: usd(500)})
	}); err != nil {
		t.Fatal(err)
	}
	status("paid", "open")
}
