package api

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// paying is the body of a payment of some cents, with more members.
func paying(cents int, more string) string {
	return fmt.Sprintf(`{"method":"card","amount":{"amount":%d,"currency":"USD"}%s}`, cents, more)
}

const confirmed = `,"confirm":["amount"]`

// A customer pays 110.00 for two days and cancels. At most that goes back, whichever way: who pays out more is asked
// whether it is right. So is who types ten times what is due.
func TestNoMoreIsPaidOutThanWasPaidIn(t *testing.T) {
	w := newLot(t)
	path := w.book(240, 288, "")
	w.do("POST", path+"/confirm", "").ok(200)
	total := int(minor(w.do("GET", path, "").ok(200).object()["total"]))
	pay := func(body string) *reply { return w.do("POST", path+"/payments", body) }

	p := pay(paying(10*total, "")).problem(409, "confirmation_required")
	wantEqual(t, "what is confirmed", fmt.Sprint(p.Confirm), "[amount]")
	pay(paying(total, `,"received_at":"`+w.api.Now().Add(25*time.Hour).Format(time.RFC3339)+`"`)).problem(422,
		"validation_failed")
	payment := "/v1/payments/" + pay(paying(total, "")).ok(201).id()
	early := w.api.Now().Add(-48 * time.Hour).Format(time.RFC3339)
	wantEqual(t, "given back before it came", w.do("POST", payment+"/refund", `{"at":"`+early+`"}`).faults(), "/at")
	// An allowance takes off what there is, with taxes, and goes when the booking comes to nothing.
	less := func(cents int) *reply {
		return w.do("POST", path+"/charges",
			fmt.Sprintf(`{"type":"adjustment","unit_price":{"amount":%d,"currency":"USD"}}`, -cents))
	}
	wantEqual(t, "below nothing", less(total+1).faults(), "/unit_price/amount")
	less(500).ok(201)
	b := w.do("POST", path+"/cancel", `{"cancelled_by":"operator"}`).ok(200).object()
	wantEqual(t, "after it was cancelled", minor(b["total"]), 0.0)

	// Six clerks give the same money back at once: as much of it goes out as came in.
	part := total / 3
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			body := fmt.Sprintf(`{"amount":{"amount":%d,"currency":"USD"}}`, part)
			to := payment + "/refund"
			if i%2 == 0 {
				to, body = path+"/payments", paying(part, `,"direction":"out"`)
			}
			w.do("POST", to, body)
		})
	}
	all.Wait()
	wantEqual(t, "left of it", int(minor(w.do("GET", path, "").ok(200).object()["amount_paid"])), total-3*part)
	pay(paying(part, `,"direction":"out"`)).problem(409, "confirmation_required")
	pay(paying(part, `,"direction":"out"`+confirmed)).ok(201)
	wantEqual(t, "paid out in goodwill", int(minor(w.do("GET", path, "").ok(200).object()["amount_paid"])), total-4*part)
	w.audited()
}

// What a customer pays without a booking is owed to them: it lowers what they owe, and pays the booking that it is
// given later. It cannot be paid out besides.
func TestAPaymentWithoutABookingIsAPrepayment(t *testing.T) {
	w := newLot(t)
	due := func() float64 {
		t.Helper()
		stats := w.do("GET", "/v1/customers/"+w.customer+"?expand=stats", "").ok(200).object()["stats"].(map[string]any)
		for _, m := range stats["balance_due"].([]any) {
			return minor(m)
		}
		return 0
	}
	customer := `,"customer_id":"` + w.customer + `"`
	made := w.do("POST", "/v1/payments", paying(3000, customer)).ok(201)
	stands := func() string {
		t.Helper()
		sums := map[string]float64{}
		for _, e := range w.do("GET", "/v1/ledger/entries?per_page=100&kind=payment", "").data() {
			if sums[e["ledger_account"].(string)] += minor(e["amount"]); sums[e["ledger_account"].(string)] == 0 {
				delete(sums, e["ledger_account"].(string))
			}
		}
		return fmt.Sprint(sums)
	}
	wantEqual(t, "paid ahead", stands(), "map[cash:3000 customer_prepayments:-3000]")
	wantEqual(t, "owed", due(), -3000.0)
	w.do("POST", "/v1/payments", paying(3001, customer+`,"direction":"out"`)).problem(409, "confirmation_required")
	w.do("POST", "/v1/payments", paying(1000, `,"direction":"out"`)).problem(409, "confirmation_required")

	path := w.book(1, 25, "")
	booking := strings.TrimPrefix(path, "/v1/bookings/")
	w.do("POST", path+"/confirm", "").ok(200)
	total := minor(w.do("GET", path, "").ok(200).object()["total"])
	wantEqual(t, "owed with a booking", due(), total-3000)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	assign := "/v1/payments/" + made.id() + "/assign"
	wantEqual(t, "no such booking", w.do("POST", assign, `{"booking_id":"bkg_1"}`).faults(), "/booking_id")
	given := w.do("POST", assign, `{"booking_id":"`+booking+`"}`).ok(200).object()
	wantEqual(t, "given", given["booking_id"], any(booking))
	w.do("POST", assign, `{"booking_id":"`+booking+`"}`).ok(200)
	w.do("POST", assign, `{"booking_id":"`+strings.TrimPrefix(w.book(240, 288, ""), "/v1/bookings/")+
		`"}`).problem(409, "conflict")
	wantEqual(t, "paid", minor(w.do("GET", path, "").ok(200).object()["amount_paid"]), 3000.0)
	wantEqual(t, "owed still", due(), total-3000)
	wantEqual(t, "pays the bill", stands(), "map[accounts_receivable:-3000 cash:3000]")
	w.do("POST", "/v1/payments", paying(1, customer+`,"direction":"out"`)).problem(409, "confirmation_required")

	// What was paid out to the customer since cannot pay a booking as well.
	other := w.do("POST", "/v1/payments", paying(2000, customer)).ok(201).id()
	w.do("POST", "/v1/payments", paying(500, customer+`,"direction":"out"`)).ok(201)
	w.do("POST", "/v1/payments/"+other+"/assign", `{"booking_id":"`+booking+`"}`).problem(409, "conflict")
	w.audited()
}

// A debt is given up once, down to what is owed, and the booking says how much of it; the deposit pays what is owed and
// no more, and one that is kept of a booking that was cancelled is pointed out.
func TestADebtIsGivenUpOnceAndADepositPaysWhatIsOwed(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 25, "")
	booking := strings.TrimPrefix(path, "/v1/bookings/")
	w.do("POST", path+"/confirm", "").ok(200)
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	w.do("POST", path+"/deposit/capture", "").ok(200)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	total := minor(w.do("GET", path, "").ok(200).object()["total"])
	wantEqual(t, "more than is owed", w.do("POST", path+"/deposit/apply",
		fmt.Sprintf(`{"amount":{"amount":%.0f,"currency":"USD"}}`, total+1)).faults(), "/amount/amount")
	w.do("POST", path+"/deposit/apply", `{"amount":{"amount":500,"currency":"USD"}}`).ok(200)

	give := func(cents float64) *reply {
		return w.do("POST", "/v1/expenses",
			fmt.Sprintf(`{"category":"bad_debt","status":"posted","booking_id":%q,"incurred_on":"2026-12-24",
			"amount":{"amount":%.0f,"currency":"USD"}}`, booking, cents))
	}
	wantEqual(t, "more than is owed", give(total-499).faults(), "/amount/amount")
	lost := give(300).ok(201).id()
	wantEqual(t, "again", give(total-500).faults(), "/amount/amount")
	b := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "written off", minor(b["written_off"]), 300.0)
	wantEqual(t, "due", minor(b["balance_due"]), total-500)
	w.do("POST", "/v1/expenses/"+lost+"/void", "").ok(200)
	wantEqual(t, "not after all", minor(w.do("GET", path, "").ok(200).object()["written_off"]), 0.0)
	b = w.do("POST", path+"/deposit/apply", "").ok(200).object()
	wantEqual(t, "all that is owed", b["payment_status"], "paid")
	wantEqual(t, "nothing more", w.do("POST", path+"/deposit/apply", "").faults(), "/amount/amount")
	wantEqual(t, "nothing to give up", give(1).faults(), "/amount/amount")

	path = w.book(240, 288, "")
	w.do("POST", path+"/confirm", "").ok(200)
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	b = w.do("POST", path+"/cancel", `{"cancelled_by":"customer"}`).ok(200).object()
	wantEqual(t, "pointed out", strings.Contains(fmt.Sprint(b["warnings"]), "deposit is still authorized"), true)
	b = w.do("POST", path+"/deposit/release", "").ok(200).object()
	wantEqual(t, "released", strings.Contains(fmt.Sprint(b["warnings"]), "deposit"), false)
	w.audited()
}

// A bill that nobody has paid is owed, until somebody says when it was paid; that day can be put right.
func TestABillIsOwedUntilItIsPaid(t *testing.T) {
	w := newLot(t)
	bill := `{"category":"repair","status":"posted","unpaid":true,"incurred_on":"2026-11-02","amount":{"amount":12000,"currency":"USD"}%s}`
	wantEqual(t, "paid or not",
		w.do("POST", "/v1/expenses", fmt.Sprintf(bill, `,"paid_on":"2026-11-03"`)).faults(), "/paid_on")
	path := "/v1/expenses/" + w.do("POST", "/v1/expenses", fmt.Sprintf(bill, "")).ok(201).id()
	stands := func(on string) string {
		t.Helper()
		sums := map[string]float64{}
		for _, a := range w.do("GET", "/v1/ledger/accounts?on="+on, "").data() {
			if m := minor(a["balance"]); m != 0 {
				sums[a["ledger_account"].(string)] = m
			}
		}
		return fmt.Sprint(sums)
	}
	wantEqual(t, "owed", stands("2026-12-31"), "map[accounts_payable:-12000 cost.repair:12000]")
	wantEqual(t, "a day", w.do("POST", path+"/pay", `{"paid_on":"1960-01-01"}`).faults(), "/paid_on")
	paid := w.do("POST", path+"/pay", `{"paid_on":"2026-11-20"}`).ok(200).object()
	wantEqual(t, "paid", fmt.Sprint(paid["paid_on"], " ", paid["unpaid"]), "2026-11-20 false")
	wantEqual(t, "owed until then", stands("2026-11-19"), "map[accounts_payable:-12000 cost.repair:12000]")
	wantEqual(t, "paid then", stands("2026-11-20"), "map[cash:-12000 cost.repair:12000]")
	w.do("POST", path+"/pay", `{"paid_on":"2026-11-25"}`).ok(200)
	wantEqual(t, "put right", stands("2026-11-20"), "map[accounts_payable:-12000 cost.repair:12000]")
	w.do("POST", path+"/void", "").ok(200)
	w.do("POST", path+"/pay", `{"paid_on":"2026-11-25"}`).problem(409, "invalid_state_transition")
	w.audited()
}
