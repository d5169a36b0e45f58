package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// stats are the figures of the lot's customer.
func (w *lotWorld) stats() map[string]any {
	w.t.Helper()
	return w.do("GET", "/v1/customers/"+w.customer+"?expand=stats", "").ok(200).object()["stats"].(map[string]any)
}

// sums are amounts of the figures of the lot's customer, in dollars.
func (w *lotWorld) sums(members ...string) string {
	w.t.Helper()
	stats := w.stats()
	var all []string
	for _, member := range members {
		sum := 0.0
		for _, m := range stats[member].([]any) {
			sum += minor(m) / 100
		}
		all = append(all, fmt.Sprint(sum))
	}
	return strings.Join(all, " ")
}

// A payment of 110.00 of which 40.00 were given back is told as both, each at its time, and what was told stays as it
// was told.
func TestARefundIsToldBesideItsPayment(t *testing.T) {
	w := newLot(t)
	path := w.book(48, 96, `,"confirm":true`)
	told := func() string {
		var all []string
		for _, e := range w.do("GET", path+"/timeline", "").data() {
			if kind := e["kind"]; kind == "payment" || kind == "refund" {
				all = append(all, fmt.Sprint(kind, " ", e["at"], " ", e["text"]))
			}
		}
		return strings.Join(all, "\n")
	}
	pay := func(method, more string) string {
		body := fmt.Sprintf(`{"method":%q,"amount":{"amount":11000,"currency":"USD"}%s}`, method, more)
		return "/v1/payments/" + w.do("POST", path+"/payments", body).ok(201).id()
	}
	card := pay("card", `,"received_at":"2026-01-02T10:00:00Z"`)
	first := "payment 2026-01-02T10:00:00.000Z Payment received by card: USD 110.00."
	wantEqual(t, "paid", told(), first)
	w.do("POST", card+"/refund", `{"amount":{"amount":4000,"currency":"USD"},"at":"2026-01-03T10:00:00Z"}`).ok(200)
	w.do("POST", card+"/refund", `{"amount":{"amount":500,"currency":"USD"},"at":"2026-01-04T10:00:00Z"}`).ok(200)
	w.do("PATCH", card, `{"metadata":{"seen":"yes"}}`).ok(200)
	refunds := "refund 2026-01-04T10:00:00.000Z Refunded by card: USD 5.00.\n" +
		"refund 2026-01-03T10:00:00.000Z Refunded by card: USD 40.00.\n"
	wantEqual(t, "given back", told(), refunds+first)
	wire := pay("bank_transfer", `,"pending":true`)
	w.do("POST", wire+"/fail", "").ok(200)
	if all := told(); !strings.Contains(all, "Payment failed by bank_transfer: USD 110.00.\n") ||
		!strings.Contains(all, "Payment expected by bank_transfer: USD 110.00.\n") || !strings.HasSuffix(all, refunds+first) {
		t.Errorf("told:\n%s", all)
	}
}

// Where nothing is owed and nothing was paid nothing was paid: of a hold that ran out, and of a booking that was
// cancelled in time.
func TestWhatCameToNothingIsNotPaid(t *testing.T) {
	w := newLot(t)
	held := w.book(48, 96, `,"hold_minutes":5`)
	wantEqual(t, "held", w.do("GET", held, "").member("payment_status"), "unpaid")
	w.pass(time.Hour)
	if err := w.api.desk.Duty(t.Context(), "bookings: holds lapse"); err != nil {
		t.Fatal(err)
	}
	over := w.do("GET", held, "")
	wantEqual(t, "ran out", fmt.Sprint(over.member("status"), " ", over.member("payment_status")), "expired nothing_due")
	free := w.book(48, 96, `,"confirm":true`)
	w.do("POST", free+"/deposit/authorize", "").ok(200)
	w.do("POST", free+"/cancel", "").ok(200)
	wantEqual(t, "cancelled in time", w.do("GET", free, "").member("payment_status"), "nothing_due")
	unsecured := w.book(48, 96, `,"confirm":true`)
	gone := w.do("POST", unsecured+"/cancel", "").ok(200)
	wantEqual(t, "a deposit that nobody gave", gone.member("deposit", "status"), "none")
	released := w.do("POST", free+"/deposit/release", "").ok(200)
	wantEqual(t, "the deposit", minor(released.member("deposit", "released")), 20000.0)

	late := w.book(2, 50, `,"confirm":true`)
	w.do("POST", late+"/payments", `{"method":"card","amount":{"amount":11000,"currency":"USD"}}`).ok(201)
	b := w.do("POST", late+"/cancel", "").ok(200)
	words := fmt.Sprint(b.member("payment_status"), " ", minor(b.member("balance_due")))
	wantEqual(t, "half of it was the fee", words, "overpaid -5500")
	payment := fmt.Sprint(w.do("GET", late+"/payments", "").data()[0]["id"])
	w.do("POST", "/v1/payments/"+payment+"/refund", `{"amount":{"amount":5500,"currency":"USD"}}`).ok(200)
	wantEqual(t, "the fee", w.do("GET", late, "").member("payment_status"), "paid")
}

// A customer has brought what was earned by today, without taxes; what is booked for later is said apart. What a
// deposit paid is not owed any more.
func TestWhatACustomerHasBroughtIsWhatWasEarned(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/account", `{"timezone":"America/Chicago"}`).ok(200)
	figures := func() string { return w.sums("lifetime_revenue", "booked_revenue", "balance_due") }
	w.book(0.01, 48, "") // a hold is no revenue
	wantEqual(t, "a hold", figures(), "0 0 0")
	w.car = w.newCar()
	path := w.book(0.01, 240, `,"confirm":true`)
	wantEqual(t, "ten days to come", figures(), "0 500 550")
	w.pass(time.Minute)
	b := w.do("POST", path+"/pickup", "").ok(200).object()
	today := w.api.Now().In(zoneNamed(t, "America/Chicago")).Format(time.DateOnly)
	earned := 0
	for _, day := range b["rate_snapshot"].(map[string]any)["days"].([]any) {
		if day.(map[string]any)["date"].(string) <= today {
			earned += 50
		}
	}
	wantEqual(t, "picked up", figures(), fmt.Sprint(earned, " 500 550"))
	w.do("POST", path+"/charges", `{"type":"discount","unit_price":{"amount":10000,"currency":"USD"}}`).ok(201)
	for _, step := range []string{`authorize`, `capture`, `apply`} {
		w.do("POST", path+"/deposit/"+step, "").ok(200)
	}
	w.pass(11 * 24 * time.Hour)
	w.do("POST", path+"/return", fmt.Sprintf(`{"at":%q}`, w.in(-26))).ok(200)
	wantEqual(t, "brought back", figures(), "400 400 240")
}

// The bill says when a toll was due by the clocks of the place, and says it once, though somebody disputed it in
// between.
func TestATollIsBilledByTheClocksOfThePlace(t *testing.T) {
	w := newLot(t)
	path := w.book(0.01, 49, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", "").ok(200)
	w.pass(3 * time.Hour)
	at := w.in(-1)
	body := `{"kind":"toll","plate":"XYZ1","agency":"E-470","occurred_at":"` + at +
		`","amount":{"amount":450,"currency":"USD"}}`
	toll := "/v1/tolls/" + w.do("POST", "/v1/tolls", body).ok(201).id()
	w.do("POST", toll+"/match", `{"booking_id":"`+strings.TrimPrefix(path, "/v1/bookings/")+`"}`).ok(200)
	w.do("POST", toll+"/bill", "").ok(200)
	due, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	w.do("POST", toll+"/dispute", `{"reason":"not me"}`).ok(200)
	wantEqual(t, "billed again", w.do("POST", toll+"/bill", "").ok(200).member("status"), "billed")
	lines := w.do("GET", path+"/charges", "").data()
	wantEqual(t, "lines: the days, their tax, the toll once", len(lines), 3)
	wantEqual(t, "the line", lines[len(lines)-1]["description"],
		"E-470 "+due.In(zoneNamed(t, "America/Chicago")).Format("2006-01-02 15:04 MST"))
}

func zoneNamed(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
