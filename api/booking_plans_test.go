//go:build long

package api

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatWasPlannedIsChangedThroughTheCalendar(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72, `,"confirm":true`)
	next := w.book(80, 100, "")
	number := func(booking string) string { return fmt.Sprint(w.do("GET", booking, "").ok(200).object()["number"]) }
	// Not over the next one, and not over its buffers.
	for name, answer := range map[string]*reply{
		"patch":  w.do("PATCH", path, fmt.Sprintf(`{"return_at":%q}`, w.in(85))),
		"extend": w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, w.in(79))),
	} {
		if text := answer.refused(); !strings.Contains(text, number(next)) {
			t.Errorf("%s: %q", name, text)
		}
	}
	wantEqual(t, "unchanged", w.do("GET", path, "").object()["revision"], 1.0)
	b := w.do("PATCH", path, fmt.Sprintf(`{"return_at":%q,"notes":"late flight"}`, w.in(48))).ok(200).object()
	wantEqual(t, "a day less", minor(b["total"]), 5500.0)
	wantEqual(t, "days", b["billed_days"], 1.0)
	b = w.do("PATCH", path+"?reprice=false", fmt.Sprintf(`{"return_at":%q}`, w.in(72))).ok(200).object()
	wantEqual(t, "as agreed", minor(b["total"]), 5500.0)
	until := w.in(76)
	b = w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, until)).ok(200).object()
	wantEqual(t, "extended to the same",
		w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, until)).ok(200).object()["revision"], b["revision"])
	wantEqual(t, "extended", b["return_at"], strings.Replace(until, "Z", ".000Z", 1))
	w.do("PATCH", path, `{"notes":"x"}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, w.in(77)), "If-Match", `"r1"`).problem(412,
		"precondition_failed")
	w.do("PATCH", path, `{"status":"completed"}`).problem(422, "validation_failed")
	wantEqual(t, "faults", w.do("PATCH", path, `{"vehicle_id":"veh_1"}`).faults(), "/vehicle_id")
	// What was read can be written back, and nothing is lost by it.
	read := w.do("GET", path, "").ok(200)
	revision := read.object()["revision"]
	wantEqual(t, "written back", w.do("PUT", path, string(read.body)).ok(200).object()["revision"], revision)

	// Another vehicle, before the rental and during it.
	spare := w.newCar()
	b = w.do("POST", path+"/swap_vehicle", fmt.Sprintf(`{"vehicle_id":%q,"reason":"flat tyre"}`, spare)).ok(200).object()
	wantEqual(t, "vehicle", b["vehicle_id"], spare)
	wantEqual(t, "history", b["vehicle_history"].([]any)[0].(map[string]any)["vehicle_id"], w.car)
	w.do("POST", "/v1/bookings", w.booking(30, 40, "")).ok(201) // the first one is free again
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(`{"vehicle_id":%q}`, w.car)).refused()

	// A class first, a vehicle later.
	body := fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true}`, w.class,
		w.customer, w.in(300), w.in(320))
	class := "/v1/bookings/" + w.do("POST", "/v1/bookings", body).ok(201).id()
	w.do("POST", class+"/pickup", "").refused()
	w.do("POST", "/v1/bookings", body).ok(201)
	if text := w.do("POST", "/v1/bookings", body).refused(); !strings.Contains(text, "Compact") ||
		!strings.Contains(text, number(class)) {
		t.Errorf("%q does not say what is in the way", text)
	}
	w.car = spare
	w.do("POST", "/v1/bookings", w.booking(301, 305, "")).refused()
	b = w.do("POST", class+"/assign_vehicle", fmt.Sprintf(`{"vehicle_id":%q}`, spare)).ok(200).object()
	wantEqual(t, "assigned", b["vehicle_id"], spare)
	wantEqual(t, "no upgrade", b["upgrade_from_class_id"], nil)
	for query, want := range map[string]int{"?vehicle_id=" + spare: 2, "?vehicle_class_id=" + w.class: 5,
		"?status=pending": 2, "?status=pending,confirmed": 5, "?customer_id=cus_1": 0,
		"?is_overdue=true": 0, "?conflict=false&channel=direct": 5, "?location_ids=" + w.place: 5,
		"?pickup_at[gte]=" + w.in(299): 2, "?pickup_at[lt]=" + w.in(60) + "&sort=-pickup_at,status": 2} {
		wantEqual(t, query, w.do("GET", "/v1/bookings"+query, "").ok(200).pagination().Total, want)
	}
}

func TestTheBillOfABooking(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 25, `,"confirm":true`)
	clean := w.do("POST", path+"/charges",
		`{"type":"cleaning","description":"sand","quantity":2,"unit_price":{"amount":1000,"currency":"USD"},"taxable":true}`,
		"Idempotency-Key", "k").ok(201)
	wantEqual(t, "amount", minor(clean.object()["amount"]), 2000.0)
	again := w.do("POST", path+"/charges",
		`{"type":"cleaning","description":"sand","quantity":2,"unit_price":{"amount":1000,"currency":"USD"},"taxable":true}`,
		"Idempotency-Key", "k").ok(201)
	wantEqual(t, "once", again.id(), clean.id())
	b := w.do("GET", path, "").object()
	wantEqual(t, "with tax", minor(b["total"]), 5500.0+2200)
	back := w.do("POST", path+"/charges/"+clean.id()+"/reverse", `{"reason":"it was clean"}`).ok(201).object()
	wantEqual(t, "of", back["reversal_of"], clean.id())
	w.do("POST", path+"/charges/"+clean.id()+"/reverse", "").refused()
	w.do("POST", path+"/charges/"+fmt.Sprint(back["id"])+"/reverse", "").refused()
	w.do("POST", path+"/charges/chg_1/reverse", "").problem(404, "not_found")
	wantEqual(t, "as before", minor(w.do("GET", path, "").object()["total"]), 5500.0)
	wantEqual(t, "currency", w.do("POST", path+"/charges",
		`{"type":"fine","unit_price":{"amount":100,"currency":"EUR"}}`).faults(), "/unit_price/currency")
	if n := len(w.do("GET", path+"/charges", "").data()); n != 6 {
		t.Errorf("%d lines", n)
	}
	// The deposit.
	wantEqual(t, "required", b["deposit"].(map[string]any)["status"], "required")
	p := w.do("POST", path+"/deposit/apply", "").problem(409, "invalid_state_transition")
	wantEqual(t, "of the deposit", p.CurrentState+" "+strings.Join(p.AllowedTransitions, ","), "required authorized")
	w.do("POST", path+"/deposit/authorize", `{"provider_ref":"pi_1"}`).ok(200)
	wantEqual(t, "too much",
		w.do("POST", path+"/deposit/capture", `{"amount":{"amount":20001,"currency":"USD"}}`).faults(), "/amount")
	w.do("POST", path+"/deposit/capture", `{"amount":{"amount":8000,"currency":"USD"}}`).ok(200)
	b = w.do("POST", path+"/deposit/apply", `{"amount":{"amount":5500,"currency":"USD"}}`).ok(200).object()
	wantEqual(t, "paid by it", b["payment_status"], "paid")
	b = w.do("POST", path+"/deposit/release", "").ok(200).object()
	wantEqual(t, "the rest", minor(b["deposit"].(map[string]any)["released"]), 2500.0)
	wantEqual(t, "done", b["deposit"].(map[string]any)["status"], "released")
	// Damage.
	w.pass(2 * 3600e9)
	w.do("POST", path+"/pickup", "").ok(200)
	dent := w.do("POST", path+"/damages",
		`{"description":"a dent","severity":"minor","estimate":{"amount":30000,"currency":"USD"}}`).ok(201).id()
	w.do("POST", path+"/damages/"+dent+"/status", `{"status":"repaired"}`).problem(409, "invalid_state_transition")
	b = w.do("POST", path+"/damages/"+dent+"/status", `{"status":"charged"}`).ok(200).object()
	wantEqual(t, "charged", minor(b["total"]), 35500.0)
	wantEqual(t, "owed", minor(b["balance_due"]), 30000.0)
	wantEqual(t, "damaged", b["has_damage"], true)
	w.do("POST", path+"/inspections", `{"items":[{"point":"door","result":"fail"}]}`).ok(201)
	wantEqual(t, "inspections", len(w.do("GET", path+"/inspections", "").data()), 1)
	wantEqual(t, "damages", len(w.do("GET", path+"/damages", "").data()), 1)
}

func TestWhoMayNotRentIsRefused(t *testing.T) {
	w := newLot(t)
	w.do("POST", "/v1/customers/"+w.customer+"/do_not_rent", `{"active":true,"reason_code":"unpaid"}`).ok(200)
	w.do("POST", "/v1/bookings", w.booking(1, 20, "")).refused()
	w.do("POST", "/v1/customers/"+w.customer+"/do_not_rent", `{"active":false}`).ok(200)
	path := w.book(1, 20, "")
	w.do("POST", "/v1/customers/"+w.customer+"/do_not_rent", `{"active":true,"reason_code":"unpaid"}`).ok(200)
	w.do("POST", path+"/confirm", "").refused()
	w.do("POST", "/v1/customers/"+w.customer+"/do_not_rent", `{"active":false}`).ok(200)
	w.do("POST", "/v1/vehicles/"+w.car+"/status", `{"status":"out_of_service","reason":"recall"}`).ok(200)
	w.do("POST", path+"/confirm", "").refused()
	w.do("POST", "/v1/vehicles/"+w.car+"/status", `{"status":"available","reason":"done"}`).ok(200)
	w.do("PATCH", "/v1/account", `{"booking_settings":{"deposit_due":"confirm","hold_minutes":5}}`).ok(200)
	w.do("POST", path+"/confirm", "").refused()
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	w.do("POST", path+"/confirm", "").ok(200)
	nobody := fmt.Sprintf(`{"vehicle_id":%q,"pickup_at":%q,"return_at":%q}`, w.newCar(), w.in(2), w.in(20))
	held := "/v1/bookings/" + w.do("POST", "/v1/bookings", nobody).ok(201).id()
	w.do("POST", held+"/confirm", "").refused()
	for body, want := range map[string]string{
		`{"pickup_at":"2026-01-02T00:00:00Z","return_at":"2026-01-01T00:00:00Z"}`: "/return_at",
		`{"pickup_at":"2036-01-02T00:00:00Z","return_at":"2036-01-03T00:00:00Z"}`: "/vehicle_class_id",
		`{"pickup_at":"0001-01-02T00:00:00Z","return_at":"2026-01-03T00:00:00Z"}`: "/pickup_at",
		`{"pickup_at":"2026-01-02T00:00:00Z"}`:                                    "/return_at",
	} {
		wantEqual(t, body, w.do("POST", "/v1/bookings", body).faults(), want)
	}
}
