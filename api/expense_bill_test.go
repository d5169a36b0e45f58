package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a clerk marks as billable to the customer is on the bill of its booking once it is posted, once, and is taken
// off when it is voided.
func TestACostThatIsPassedOnIsOnTheBillOnce(t *testing.T) {
	w := newLot(t)
	path := w.book(48, 96, `,"confirm":true`)
	booking := strings.TrimPrefix(path, "/v1/bookings/")
	const expenses = "/v1/expenses"
	cost := func(category string, amount int, more string) string {
		return fmt.Sprintf(`{"category":%q,"amount":{"amount":%d,"currency":"USD"},"incurred_on":"2026-03-01",`+
			`"booking_id":%q,"billable_to_customer":true%s}`, category, amount, booking, more)
	}
	owed := func(what string, want float64) {
		t.Helper()
		wantEqual(t, what, minor(w.do("GET", path, "").member("total")), want)
	}

	draft := expenses + "/" + w.do("POST", expenses, cost("parking", 1500, `,"vendor":"City Garage"`)).ok(201).id()
	wantEqual(t, "of a draft", w.do("GET", draft, "").member("charge_id"), nil)
	w.do("PATCH", draft, `{"amount":{"amount":1800,"currency":"USD"}}`).ok(200)
	owed("a draft is not billed", 11000)
	line := w.do("POST", draft+"/post", "", "Idempotency-Key", "p").ok(200).member("charge_id")
	wantEqual(t, "again", w.do("POST", draft+"/post", "", "Idempotency-Key", "p").ok(200).member("charge_id"), line)
	owed("billed", 12800)
	lines := w.do("GET", path+"/charges", "").data()
	last := lines[len(lines)-1]
	wantEqual(t, "the line", fmt.Sprint(last["id"], last["type"], last["description"], last["expense_id"]),
		fmt.Sprint(line, "expense", "Parking, City Garage", strings.TrimPrefix(draft, expenses+"/")))
	w.do("POST", draft+"/post", "").problem(409, "invalid_state_transition")
	w.do("PATCH", draft, `{"amount":{"amount":1,"currency":"USD"}}`).problem(409, "invalid_state_transition")
	owed("still", 12800)

	at := cost("fuel", 4000, `,"status":"posted"`)
	fuel := expenses + "/" + w.do("POST", expenses, at, "Idempotency-Key", "f").ok(201).id()
	w.do("POST", expenses, at, "Idempotency-Key", "f").ok(201)
	owed("posted at once", 16800)
	w.do("POST", fuel+"/void", "", "Idempotency-Key", "v").ok(200)
	w.do("POST", fuel+"/void", "", "Idempotency-Key", "v").ok(200)
	w.do("POST", fuel+"/void", "").problem(409, "invalid_state_transition")
	owed("voided", 12800)

	// What a clerk has taken off the bill is not taken off twice.
	w.do("POST", path+"/charges/"+fmt.Sprint(line)+"/reverse", "").ok(201)
	w.do("POST", draft+"/void", "").ok(200)
	owed("taken off by hand, then voided", 11000)
	gone := expenses + "/" + w.do("POST", expenses, cost("cleaning", 900, "")).ok(201).id()
	w.do("DELETE", gone, "").ok(204)
	owed("a draft that was archived", 11000)

	for body, want := range map[string]string{
		cost("depreciation", 100, ""):                                  "/billable_to_customer",
		strings.ReplaceAll(cost("fuel", 100, ""), booking, ""):         "/booking_id",
		strings.ReplaceAll(cost("fuel", 100, ""), `"USD"`, `"EUR"`):    "/amount/currency",
		strings.ReplaceAll(cost("fuel", 100, ""), booking, "bkg_1234"): "/booking_id",
	} {
		wantEqual(t, body, w.do("POST", expenses, body).faults(), want)
	}
	ours := w.do("POST", expenses, strings.ReplaceAll(at, "true", "false")).ok(201)
	wantEqual(t, "not billable", ours.member("charge_id"), nil)
	owed("which is not billed", 11000)

	// Before its hold runs out the booking takes a cost, then no more.
	w.car = w.newCar()
	held := w.book(48, 96, `,"hold_minutes":5`)
	booking = strings.TrimPrefix(held, "/v1/bookings/")
	late := expenses + "/" + w.do("POST", expenses, cost("fuel", 100, "")).ok(201).id()
	w.pass(time.Hour)
	if err := w.api.desk.Duty(t.Context(), "bookings: holds lapse"); err != nil {
		t.Fatal(err)
	}
	w.do("POST", late+"/post", "").problem(409, "invalid_state_transition")
	wantEqual(t, "stays", w.do("GET", late, "").member("status"), "draft")
}

// A cost is not taken out of the books while its line stays on the bill: not while a discount was given on it, nor when
// the booking has ended.
func TestACostIsVoidedWithItsLineOrNotAtAll(t *testing.T) {
	w := newLot(t)
	path := w.book(48, 96, `,"confirm":true`)
	cost := func(booking string) string {
		body := fmt.Sprintf(`{"category":"fuel","amount":{"amount":4000,"currency":"USD"},"incurred_on":"2026-03-01",`+
			`"booking_id":%q,"billable_to_customer":true,"status":"posted"}`, strings.TrimPrefix(booking, "/v1/bookings/"))
		return "/v1/expenses/" + w.do("POST", "/v1/expenses", body).ok(201).id()
	}
	fuel := cost(path)
	off := w.do("POST", path+"/charges", `{"type":"discount","unit_price":{"amount":12000,"currency":"USD"}}`).ok(201).id()
	w.do("POST", fuel+"/void", "").problem(409, "conflict")
	wantEqual(t, "stays", w.do("GET", fuel, "").member("status"), "posted")
	w.do("POST", path+"/charges/"+off+"/reverse", "").ok(201)
	w.do("POST", fuel+"/void", "").ok(200)
	wantEqual(t, "voided, and off the bill", minor(w.do("GET", path, "").member("total")), 11000.0)

	w.car = w.newCar()
	held := w.book(48, 96, `,"hold_minutes":5`)
	late := cost(held)
	w.pass(time.Hour)
	doDuty(t, w, "bookings: holds lapse")
	wantEqual(t, "of a booking that came to nothing", minor(w.do("GET", held, "").member("total")), 0.0)
	w.do("POST", late+"/void", "").ok(200)
}
