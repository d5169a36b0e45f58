package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A car that is sold on a day is for rent until then and no longer, whoever asks: searches, quotes, bookings that are
// made, moved, extended or given another car, and its class. So it is with one that comes into service some day.
func TestACarIsForRentWhileItIsInTheFleet(t *testing.T) {
	w := newLot(t)
	date := func(days int) string {
		zone, _ := time.LoadLocation("America/Chicago")
		return w.api.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly)
	}
	say := func(car, member string, days int) map[string]any {
		return w.do("PATCH", "/v1/vehicles/"+car, fmt.Sprintf(`{"timezone":"America/Chicago",%q:%q}`, member, date(days))).
			ok(200).object()
	}
	refused := func(method, path, body string, status int) {
		t.Helper()
		code := map[int]string{409: "conflict", 422: "validation_failed"}[status]
		p := w.do(method, path, body).problem(status, code)
		if len(p.Errors) != 1 || p.Errors[0].Code != "not_in_fleet" {
			t.Errorf("%s %s: %+v", method, path, p)
		}
	}
	const day = 24.0
	late := w.book(20*day, 22*day, `,"confirm":true`)
	early := w.book(5*day, 8*day, `,"confirm":true`)
	sold := say(w.car, "disposal_on", 10)
	if text := fmt.Sprint(sold["warnings"]); !strings.Contains(text, "the booking B-1001 has the vehicle") ||
		strings.Contains(text, "B-1002") {
		t.Errorf("warnings %s", text)
	}
	wantEqual(t, "what stood", w.do("GET", late, "").ok(200).object()["status"], "confirmed")

	refused("POST", "/v1/bookings", w.booking(12*day, 14*day, ""), 409)
	refused("POST", "/v1/quotes", w.booking(12*day, 14*day, ""), 422)
	refused("PATCH", early, `{"pickup_at":"`+w.in(12*day)+`","return_at":"`+w.in(14*day)+`"}`, 409)
	refused("POST", early+"/extend", `{"return_at":"`+w.in(11*day)+`"}`, 422)
	w.do("POST", early+"/extend", `{"return_at":"`+w.in(8.5*day)+`"}`).ok(200)
	find := func(from, until float64) map[string]any {
		return w.do("GET", fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s&vehicle_class_id=%s", w.in(from),
			w.in(until), w.class), "").ok(200).object()
	}
	left := func(found map[string]any) any { return found["classes"].([]any)[0].(map[string]any)["left"] }
	found := find(12*day, 14*day)
	wantEqual(t, "vehicles after", len(found["data"].([]any)), 0)
	wantEqual(t, "why", found["not_available"].(map[string]any)["not_in_fleet"], 1.0)
	wantEqual(t, "of the class after", left(found), 0.0)
	wantEqual(t, "of the class before", left(find(1*day, 2*day)), 1.0)
	ofClass := fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q}`, w.class, w.customer,
		w.in(12*day), w.in(14*day))
	w.do("POST", "/v1/bookings", ofClass).problem(409, "conflict")

	// One that comes into service in three days serves from then on.
	other := w.newCar()
	wantEqual(t, "rentable today", say(other, "in_service_on", 3)["is_rentable"], false)
	w.do("POST", late+"/swap_vehicle", `{"vehicle_id":"`+other+`"}`).ok(200)
	warnings := w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()["warnings"]
	wantEqual(t, "nothing is left to say", len(warnings.([]any)), 0)
	w.car = other
	refused("POST", "/v1/bookings", w.booking(1*day, 2*day, ""), 409)
	w.book(4*day, 5*day, `,"confirm":true`)
}
