package ledger_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// books are records with a random past, and every transaction that it led to.
type books struct {
	t        *rapid.T
	bookings []*record.Booking
	payments []*record.Payment
	expenses []*record.Expense
	work     []*record.WorkOrder
	tolls    []*record.Toll
	posted   []ledger.Posting
	zone     *time.Location
	lines    int
}

var currencies = []string{"USD", "EUR", "JPY"}

func (b *books) money(most int64) record.Money {
	return record.Money{Amount: rapid.Int64Range(1, most).Draw(b.t, "amount"),
		Currency: rapid.SampledFrom(currencies).Draw(b.t, "currency")}
}

func (b *books) instant() record.Instant {
	return record.InstantOf(time.Date(2026, 3, 1, 0, 0, 0, 0,
		time.UTC).Add(time.Duration(rapid.Int64Range(0, 40*24*60).Draw(b.t, "minutes")) * time.Minute))
}

func (b *books) date() string { return b.instant().Format(time.DateOnly) }

// change changes a record and posts what that changes in the books.
func change[T any](b *books, r *T, of func(*T) []ledger.Posting, how func()) {
	before := of(r)
	how()
	tx := ledger.Between(before, of(r))
	balanced(b.t, tx)
	known := ledger.DayOf(b.instant().Time, b.zone)
	closed := ledger.Day(rapid.IntRange(20500, 20560).Draw(b.t, "closed")) // 2026-02-16 to 2026-04-17
	sums := map[string]int64{}
	for _, e := range ledger.Entries(slices.Clone(tx), known, closed) {
		sums[e.On.String()+e.Currency] += e.Amount
		if e.On <= closed {
			b.t.Errorf("posted on %s, closed through %s", e.On, closed)
		}
	}
	for on, sum := range sums {
		if sum != 0 {
			b.t.Errorf("entries of %s sum to %d", on, sum)
		}
	}
	b.posted = append(b.posted, tx...)
	if again := ledger.Between(of(r), of(r)); len(again) != 0 {
		b.t.Errorf("the same twice has postings: %v", again)
	}
}

func (b *books) ofBooking(r *record.Booking) []ledger.Posting {
	return ledger.OfBooking("bkg_1", r, b.zone)
}
func (b *books) ofPayment(r *record.Payment) []ledger.Posting { return ledger.OfPayment(r, b.zone) }
func (b *books) ofWork(r *record.WorkOrder) []ledger.Posting  { return ledger.OfWorkOrder(r, b.zone) }
func (b *books) ofToll(r *record.Toll) []ledger.Posting       { return ledger.OfToll(r, b.zone) }

var lineTypes = []string{"time", "mileage", "extra", "protection", "delivery", "young_driver", "late_return", "toll",
	"damage", "discount", "promo", "platform_fee", "tax", "adjustment"}

func (b *books) newBooking() {
	r := &record.Booking{BookingFields: record.BookingFields{VehicleID: "veh_1", CustomerID: "cus_1",
		PickupAt: b.instant(), Channel: rapid.SampledFrom([]string{"", "turo", "phone"}).Draw(b.t, "channel")},
		Status:   record.BookingConfirmed,
		Timezone: rapid.SampledFrom([]string{"", "America/New_York", "Asia/Tokyo", "nowhere"}).Draw(b.t, "zone")}
	days := rapid.IntRange(1, 12).Draw(b.t, "days")
	r.ReturnAt = record.InstantOf(r.PickupAt.AddDate(0, 0, days))
	if rapid.Bool().Draw(b.t, "priced") {
		r.RateSnapshot = &record.RateSnapshot{}
		for i := range days {
			r.RateSnapshot.Days = append(r.RateSnapshot.Days, record.DayPrice{Date: r.PickupAt.AddDate(0, 0,
				i).Format(time.DateOnly), Amount: record.Money{Amount: rapid.Int64Range(0, 20000).Draw(b.t, "price")}})
		}
	}
	b.bookings = append(b.bookings, r)
}

func (b *books) bill(r *record.Booking) {
	b.lines++
	c := record.Charge{ID: fmt.Sprintf("chg_%d", b.lines), Type: rapid.SampledFrom(lineTypes).Draw(b.t, "type"),
		Amount: b.money(1_000_000), PostedAt: b.instant(),
		Source: rapid.SampledFrom([]string{"auto", "manual", "import"}).Draw(b.t, "source")}
	switch rapid.IntRange(0, 3).Draw(b.t, "brought about by") {
	case 0:
		r.PickupCharges = append(r.PickupCharges, c.ID)
	case 1:
		r.ReturnCharges = append(r.ReturnCharges, c.ID)
	}
	if rapid.Bool().Draw(b.t, "negative") {
		c.Amount.Amount = -c.Amount.Amount
	}
	if rapid.Bool().Draw(b.t, "said when") {
		c.At = b.instant()
	}
	r.Charges = append(r.Charges, c)
}

// reverse takes back every line that was not taken back.
func (b *books) reverse(r *record.Booking) {
	done := map[string]bool{}
	for _, c := range r.Charges {
		done[c.ReversalOf] = true
	}
	for _, c := range slices.Clone(r.Charges) {
		if c.ReversalOf == "" && !done[c.ID] {
			b.lines++
			back := c
			back.ID, back.ReversalOf, back.PostedAt, back.Amount.Amount =
				fmt.Sprintf("chg_%d", b.lines), c.ID, b.instant(), -c.Amount.Amount
			r.Charges = append(r.Charges, back)
		}
	}
}

func (b *books) stepBooking() {
	r := rapid.SampledFrom(b.bookings).Draw(b.t, "booking")
	change(b, r, b.ofBooking, func() {
		switch rapid.IntRange(0, 9).Draw(b.t, "what") {
		case 0:
			r.Status, r.ActualPickupAt = record.BookingActive, b.instant()
		case 1:
			r.Status, r.ActualReturnAt = record.BookingCompleted, b.instant()
		case 2:
			r.Status, r.StatusSince = rapid.SampledFrom([]string{record.BookingCancelled, record.BookingNoShow}).Draw(b.t,
				"end"), b.instant()
			b.lines++
			r.Charges = append(r.Charges, record.Charge{ID: fmt.Sprintf("chg_%d", b.lines), Type: "cancellation_fee",
				Amount: b.money(9000), PostedAt: r.StatusSince})
			if r.Cancellation = nil; rapid.Bool().Draw(b.t, "written down later") {
				r.Cancellation = &record.Cancellation{At: b.instant()}
			}
		case 3:
			r.VehicleSwaps = append(r.VehicleSwaps, record.VehicleSwap{VehicleID: r.VehicleID, Until: b.instant()})
			r.VehicleID = rapid.SampledFrom([]string{"veh_1", "veh_2", "veh_3"}).Draw(b.t, "vehicle")
		case 4:
			r.Deposit.Captured = record.Money{Amount: rapid.Int64Range(0, 50000).Draw(b.t, "captured"), Currency: "USD"}
			r.Deposit.Applied = record.Money{Amount: rapid.Int64Range(0, r.Deposit.Captured.Amount).Draw(b.t, "applied"),
				Currency: "USD"}
			r.Deposit.Released = record.Money{Amount: rapid.Int64Range(0, 60000).Draw(b.t, "released"), Currency: "USD"}
			r.Deposit.Moves = nil
			if d := &r.Deposit; rapid.Bool().Draw(b.t, "kept when") {
				d.Released.Amount = min(d.Released.Amount, d.Captured.Amount-d.Applied.Amount)
				for i, m := range []record.Money{d.Captured, d.Applied, d.Released} {
					action := []string{"capture", "apply", "release"}[i]
					d.Moves = append(d.Moves, record.DepositMove{Action: action, Amount: m, At: b.instant()})
				}
			}
		case 5:
			b.reverse(r)
		case 6: // what was noted when vehicles changed hands is corrected, and the difference charged
			r.ActualPickupAt, r.ActualReturnAt = b.instant(), b.instant()
			for i := range r.VehicleSwaps {
				r.VehicleSwaps[i].Until = b.instant()
			}
			if r.RateSnapshot != nil && len(r.RateSnapshot.Days) > 1 {
				s := *r.RateSnapshot
				s.Days = s.Days[1:]
				r.RateSnapshot = &s
			}
			b.bill(r)
		default:
			b.bill(r)
		}
	})
}

func (b *books) stepPayment() {
	if len(b.payments) == 0 || rapid.Bool().Draw(b.t, "new") {
		p := &record.Payment{
			PaymentFields: record.PaymentFields{Direction: rapid.SampledFrom([]string{"in", "out"}).Draw(b.t, "direction"),
				Method: rapid.SampledFrom([]string{"card", "platform"}).Draw(b.t, "method"), Amount: b.money(1_000_000),
				ReceivedAt: b.instant()}, Status: record.PaymentPending}
		if rapid.Bool().Draw(b.t, "fee") {
			p.Fee = &record.Money{Amount: p.Amount.Amount / 30, Currency: p.Amount.Currency}
		}
		if rapid.Bool().Draw(b.t, "of a booking") {
			p.BookingID, p.BookedFor.Channel = "bkg_1", rapid.SampledFrom([]string{"direct", "turo"}).Draw(b.t, "channel")
		}
		b.payments = append(b.payments, p)
	}
	rec := &record.Record[record.Payment]{Body: *rapid.SampledFrom(b.payments).Draw(b.t, "payment")}
	p := b.payments[slices.IndexFunc(b.payments, func(o *record.Payment) bool {
		return o.ReceivedAt == rec.Body.ReceivedAt && o.Amount == rec.Body.Amount
	})]
	change(b, p, b.ofPayment, func() {
		rec := record.Record[record.Payment]{Body: *p}
		var err error
		switch rapid.IntRange(0, 4).Draw(b.t, "what") {
		case 4:
			rec.Body.BookedFor.BilledOn = rapid.SampledFrom([]string{"", b.date()}).Draw(b.t, "billed")
		case 0:
			err = record.Succeed(&rec, p.ReceivedAt)
		case 1:
			err = record.Fail(&rec, "")
		default:
			b.lines++
			err = record.GiveBack(&rec, record.Refund{ID: fmt.Sprint(b.lines), Amount: record.Money{Amount: rapid.Int64Range(1,
				p.Amount.Amount).Draw(b.t, "refund"), Currency: p.Amount.Currency}, At: b.instant()})
		}
		if err == nil {
			*p = rec.Body
		}
		if given := p.Refunded(); given > p.Amount.Amount {
			b.t.Errorf("%d of %d were given back", given, p.Amount.Amount)
		}
	})
}

func (b *books) stepCost() {
	switch rapid.IntRange(0, 2).Draw(b.t, "cost") {
	case 0:
		e := &record.Expense{ExpenseFields: record.ExpenseFields{VehicleID: "veh_1",
			Category: rapid.SampledFrom(ledger.Categories).Draw(b.t, "category"), Amount: b.money(1_000_000),
			IncurredOn: b.date()}, Status: record.ExpenseDraft}
		if rapid.Bool().Draw(b.t, "spread") {
			e.ServicePeriod = &record.DateRange{From: b.date(), To: b.date()}
		}
		if rapid.Bool().Draw(b.t, "paid another day") {
			e.PaidOn = b.date()
		}
		e.Unpaid = e.PaidOn == "" && rapid.Bool().Draw(b.t, "unpaid")
		if rapid.Bool().Draw(b.t, "taxed") {
			e.Tax = &record.Money{Amount: e.Amount.Amount / 6, Currency: e.Amount.Currency}
			e.TaxRecoverable = rapid.Bool().Draw(b.t, "recoverable")
		}
		part := func(name string) record.Money {
			return record.Money{Amount: rapid.Int64Range(0, 1_000_000).Draw(b.t, name), Currency: e.Amount.Currency}
		}
		switch e.Category {
		case "vehicle_purchase":
			loan := part("financed")
			e.Financed = &loan
		case "vehicle_sale":
			e.Sold = &record.Sold{Cost: part("bought for"), Depreciated: part("lost")}
		case "owner_share":
			for range rapid.IntRange(0, 3).Draw(b.t, "days") {
				e.OwnerDays = append(e.OwnerDays, record.OwnerDay{On: b.date(), Share: part("share").Amount - 500_000,
					Variable: part("variable").Amount, Fixed: part("fixed").Amount - 500_000})
			}
		}
		b.expenses = append(b.expenses, e)
		change(b, e, ledger.OfExpense, func() { e.Status = record.ExpensePosted })
	case 1:
		total := b.money(1_000_000)
		w := &record.WorkOrder{Status: record.WorkInProgress, Total: &total, CompletedAt: b.instant()}
		if rapid.Bool().Draw(b.t, "paid another day") {
			w.PaidOn = b.date()
		}
		b.work = append(b.work, w)
		change(b, w, b.ofWork, func() { w.Status = record.WorkCompleted })
	case 2:
		t := &record.Toll{TollFields: record.TollFields{Kind: "toll", Amount: b.money(5000), OccurredAt: b.instant()},
			Status: "disputed"}
		if rapid.Bool().Draw(b.t, "paid another day") {
			t.PaidOn = b.date()
		}
		b.tolls = append(b.tolls, t)
		change(b, t, b.ofToll, func() { t.Status = "matched" })
	}
}

// undo reverses everything, by the ways that there are.
func (b *books) undo() {
	for _, r := range b.bookings {
		change(b, r, b.ofBooking, func() {
			b.reverse(r)
			r.Deposit = record.Deposit{}
		})
	}
	for _, p := range b.payments {
		change(b, p, b.ofPayment, func() {
			if left := p.Amount.Amount - p.Refunded(); left > 0 {
				p.Refunds = append(p.Refunds,
					record.Refund{Amount: record.Money{Amount: left, Currency: p.Amount.Currency}, At: b.instant()})
			}
			p.Fee = nil // the provider gives it back
		})
	}
	for _, e := range b.expenses {
		change(b, e, ledger.OfExpense, func() { e.Status = record.ExpenseVoided })
	}
	for _, w := range b.work {
		change(b, w, b.ofWork, func() { w.Status = record.WorkCancelled })
	}
	for _, t := range b.tolls {
		change(b, t, b.ofToll, func() { t.Status = "disputed" })
	}
}

// ought is what ought to stand because of all records as they are.
func (b *books) ought() []ledger.Posting {
	var all []ledger.Posting
	for _, r := range b.bookings {
		all = append(all, b.ofBooking(r)...)
	}
	for _, p := range b.payments {
		all = append(all, b.ofPayment(p)...)
	}
	for _, e := range b.expenses {
		all = append(all, ledger.OfExpense(e)...)
	}
	for _, w := range b.work {
		all = append(all, b.ofWork(w)...)
	}
	for _, t := range b.tolls {
		all = append(all, b.ofToll(t)...)
	}
	return ledger.Sum(all)
}

// TestAnyHistoryBalances: whatever is done in whatever order, each transaction balances for each currency and day, the
// sum of all transactions is what ought to stand because of the newest revisions, and reversing everything leaves no
// account with anything on it.
func TestAnyHistoryBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &books{t: t, zone: time.UTC}
		for range rapid.IntRange(1, 3).Draw(t, "bookings") {
			b.newBooking()
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			rapid.SampledFrom([]func(){b.stepBooking, b.stepBooking, b.stepPayment, b.stepCost}).Draw(t, "step")()
		}
		if got, want := ledger.Sum(b.posted), b.ought(); !slices.Equal(got, want) {
			t.Fatalf("posted\n%sought to be\n%s", lines(got, true), lines(want, true))
		}
		b.agree()
		b.undo()
		sums := map[string]int64{}
		for _, p := range b.posted {
			sums[string(p.Account)+" "+p.Currency] += p.Amount
		}
		maps.DeleteFunc(sums, func(_ string, sum int64) bool { return sum == 0 })
		if len(sums) != 0 {
			t.Fatalf("after everything is reversed: %v", sums)
		}
	})
}

// TestAPostingSurvivesItsJSON: what a transaction keeps is what was posted.
func TestAPostingSurvivesItsJSON(t *testing.T) {
	entries := ledger.Entries(ledger.OfBooking("bkg_1", rental(), time.UTC), 20600, 0)
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var read []ledger.Entry
	if err := json.Unmarshal(text, &read); err != nil || !slices.Equal(read, entries) {
		t.Errorf("%v: %v, want %v", err, read, entries)
	}
}
