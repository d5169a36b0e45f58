//go:build long

package desk

import (
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A process that dies after an expense was posted, or voided, leaves neither a lost line nor a second one.
func TestAnExpenseIsBilledOnceWhoeverDies(t *testing.T) {
	db := schematest.Open(t)
	before := func() time.Time { return time.Now().Add(-5 * time.Minute) }
	d := deskOn(t, db, db, before)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "UTC", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	active := record.Booking{Status: record.BookingActive, Currency: "USD"}
	booking := number(fleet.BookingPrefix, put(t, d, d.Bookings, active))
	fuel := record.ExpenseFields{Category: "fuel", Amount: *usd(4000), IncurredOn: "2026-03-01", BookingID: name(booking),
		BillableToCustomer: true}
	draft := record.Expense{Status: record.ExpenseDraft, ExpenseFields: fuel}
	expense := number(fleet.ExpensePrefix, put(t, d, d.Expenses, draft))

	// The desk of a process that dies after the decision: nothing follows from what it writes.
	cfg := record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}
	mute, err := record.NewStore(cfg, db, fleet.NewIDSource(9, time.Now), before)
	if err != nil {
		t.Fatal(err)
	}
	dying := record.NewLog(mute, record.Expenses)
	owed := func() (sum int64, lines int) {
		rec, err := d.Bookings.Get(t.Context(), account, booking)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rec.Body.Charges {
			sum += c.Amount.Amount
		}
		return sum, len(rec.Body.Charges)
	}
	dies := func(what func(*record.Record[record.Expense]) error, sum int64, lines int) {
		t.Helper()
		was, had := owed()
		if _, err := dying.Update(t.Context(), by, account, expense, 0, what); err != nil {
			t.Fatal(err)
		}
		if now, has := owed(); now != was || has != had {
			t.Fatalf("it did not die in between: %d in %d lines", now, has)
		}
		for range 2 {
			if err := deskOn(t, db, db, time.Now).Store.SettleConsequences(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if now, has := owed(); now != sum || has != lines {
			t.Errorf("%d in %d lines, want %d in %d", now, has, sum, lines)
		}
	}
	dies(func(r *record.Record[record.Expense]) error {
		if err := record.Post(r, record.InstantOf(before())); err != nil {
			return err
		}
		return d.BillExpense(t.Context(), account, r.ID, &r.Body)
	}, 4000, 1)
	dies(func(r *record.Record[record.Expense]) error {
		return record.Void(r, record.InstantOf(before()), "twice")
	}, 0, 2)
}
