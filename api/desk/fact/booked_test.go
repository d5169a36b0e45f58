package fact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

func usd(minor int64) record.Money { return record.Money{Amount: minor, Currency: "USD"} }

// What a booking was agreed to bring follows its record: on which days, on the books since and until when, in the zone
// where it is. One that is yet to come long after everything else is there the first time facts are made, and one that
// was never confirmed is not.
func TestWhatABookingWasAgreedToBringFollowsItsRecord(t *testing.T) {
	w := open(t, "America/New_York")
	a := w.vehicle("", "2026-02-01")
	pickup := time.Date(2027, 1, 30, 3, 0, 0, 0, time.UTC) // the 29th where it is
	book := func(status string, pickup time.Time, confirmed record.Instant) uint64 {
		return create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
			PickupAt: record.InstantOf(pickup), ReturnAt: record.InstantOf(pickup.AddDate(0, 0, 4))}, Currency: "USD",
			Status: status, ConfirmedAt: confirmed, BilledDays: 4, Charges: []record.Charge{
				{Type: "time", Amount: usd(1001)}, {Type: "extra", Amount: usd(400)}, {Type: "tax", Amount: usd(99)}}})
	}
	noon := record.InstantOf(began)
	booking := book(record.BookingConfirmed, pickup, noon)
	asked := book(record.BookingPending, pickup, record.Instant{})
	was := func(booking uint64) string {
		t.Helper()
		var got string
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT ifNull((SELECT concat(toString(on_books), ' ', toString(confirmed_on), ' to ',
			toString(ended_on), ': ', toString(days), toString(agreed), toString(agreed_time), ', ', toString(months),
			toString(month_days), toString(month_agreed)) FROM booking_sums FINAL WHERE account = 7 AND booking = %d), '')`,
			booking)).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := func(when string, booking uint64, is string) {
		t.Helper()
		if got := was(booking); got != is {
			t.Errorf("%s: %s, want %s", when, got, is)
		}
	}
	const days = `['2027-01-29','2027-01-30','2027-01-31','2027-02-01'][350,350,350,351][250,250,250,251], ['2027-01-01','2027-02-01'][3,1][1050,351]`
	w.look()
	want("a year ahead", booking, "true 2026-02-27 to 2299-12-31: "+days)
	want("one that nobody confirmed", asked, "")
	w.now = w.now.Add(10 * time.Hour)
	update(w, w.base.Bookings, booking, func(b *record.Booking) {
		b.Status = record.BookingCancelled
		b.Cancellation = &record.Cancellation{At: record.InstantOf(time.Date(2026, 3, 2, 4, 59, 0, 0, time.UTC))}
	})
	w.look()
	want("when it was cancelled", booking, "true 2026-02-27 to 2026-03-01: "+days)
	if err := w.db.Exec(t.Context(), "TRUNCATE TABLE booking_sums"); err != nil {
		t.Fatal(err)
	}
	if err := w.facts.MakeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("made anew with all facts", booking, "true 2026-02-27 to 2026-03-01: "+days)
	update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.Timezone = "UTC" })
	w.now = w.now.Add(time.Hour)
	w.look()
	if got := was(booking); !strings.HasPrefix(got, "true 2026-02-27 to 2026-03-02: ") {
		t.Errorf("when the account's zone is another: %s", got)
	}
}

// On what a tax was charged follows the charges of the booking and the entries of the ledger, whichever comes first,
// and what an entry of another place took over is none of the one before.
func TestOnWhatATaxWasChargedFollowsChargesAndEntries(t *testing.T) {
	w := open(t, "UTC")
	w.vehicle("", "2026-02-01")
	const booking = 101
	put := func(text string, args ...any) {
		t.Helper()
		if err := w.db.Exec(t.Context(), fmt.Sprintf(text, args...)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(kind string, amount int) string {
		return fmt.Sprintf(`{"type":"%s","amount":{"amount":%d},"taxable":%t,"description":"State tax","tax_rate_bp":725}`,
			kind, amount, kind != "tax")
	}
	revision := 0
	charge := func(lines ...string) {
		t.Helper()
		revision++
		put(`INSERT INTO bookings (account, id, revision, created_at, updated_at, body) VALUES (7, %d, %d, '2026-02-01', '2026-02-01',
			'{"status":"cancelled","pickup_at":"2026-02-27T10:00:00Z","return_at":"2026-03-01T10:00:00Z","charges":[%s]}')`,
			booking, revision, strings.Join(lines, ","))
	}
	post := func(day string, transaction, amount, location int) {
		t.Helper()
		put(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking, kind,
			source, purpose, location, occurred_at, entered_at) VALUES (7, '%s', 'tax_payable', %d, 1, %[2]d, %d, 'USD', %[4]d, 'booking',
			%[4]d, 'tax, State tax', %d, '%[1]s 10:00:00', now64(3))`, day, transaction, amount, booking, location)
	}
	want := func(when, is string) {
		t.Helper()
		if err := w.facts.MakeAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := w.db.QueryRow(t.Context(), fmt.Sprintf(`SELECT arrayStringConcat(arraySort(groupArray(concat(toString(local_date), ' ', name, ' ',
			toString(location), ' ', toString(base), ' ', toString(known)))), ', ') FROM tax_bases FINAL
			WHERE account = 7 AND booking = %d AND (base, known) != (0, 0)`, booking)).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != is {
			t.Errorf("%s: %s, want %s", when, got, is)
		}
	}
	billed := []string{line("time", 20000), line("tax", 1450)}
	charge(billed[0])
	post("2026-02-27", 1, -1450, 5)
	want("an entry that no charge explains", "")
	charge(billed...)
	want("a charge that explains it", "2026-02-27 State tax 5 20000 1450")
	charge(append(billed, line("time", -20000), line("tax", -1450))...)
	post("2026-03-03", 2, 1450, 6)
	want("when it was taken back", "2026-02-27 State tax 5 20000 1450, 2026-03-03 State tax 6 -20000 -1450")
	put("ALTER TABLE ledger_entries DELETE WHERE transaction = 2 SETTINGS mutations_sync = 2")
	post("2026-03-04", 3, 1450, 6)
	want("on another day after all", "2026-02-27 State tax 5 20000 1450, 2026-03-04 State tax 6 -20000 -1450")
}

// What the books have of a customer follows entries of the ledger, whatever they are about, by currency and month.
func TestWhatTheBooksHaveOfACustomerFollowsEntries(t *testing.T) {
	w := open(t, "UTC")
	post := func(day, of string, amount int, currency string, customer int) {
		t.Helper()
		if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount,
			currency, customer, kind, source, entered_at) VALUES (7, '%s', '%s', %d, 1, 1, %d, '%s', %d, 'booking', 1, now64(3))`,
			day, of, w.rng.Uint64(), amount, currency, customer)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when, is string) {
		t.Helper()
		w.now = w.now.Add(time.Hour)
		w.look()
		var got string
		if err := w.db.QueryRow(t.Context(), `SELECT arrayStringConcat(arraySort(groupArray(concat(toString(customer), ' ', currency, ' ',
			toString(months), toString(income)))), ', ') FROM customer_sums FINAL WHERE account = 7`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != is {
			t.Errorf("%s: %s, want %s", when, got, is)
		}
	}
	post("2026-01-31", "revenue.time", -5000, "USD", 9)
	post("2026-03-01", "cost.platform_fee", 700, "USD", 9)
	post("2026-03-01", "tax_payable", -400, "USD", 9)
	post("2026-03-02", "revenue.time", -100, "EUR", 9)
	post("2026-03-02", "revenue.time", -30, "USD", 0)
	want("what was earned and kept", "9 EUR ['2026-03-01'][100], 9 USD ['2026-01-01','2026-03-01'][5000,-700]")
	post("2026-03-31", "contra.discount", 50, "USD", 9)
	post("2026-02-01", "revenue.fees", -20, "USD", 8)
	want("when there is more", "8 USD ['2026-02-01'][20], 9 EUR ['2026-03-01'][100], 9 USD ['2026-01-01','2026-03-01'][5000,-750]")
}
