package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

func TestAnotherAccountsBookingsAreNotThere(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 20, `,"confirm":true`)
	charge := fmt.Sprint(w.do("GET", path+"/charges", "").data()[0]["id"])
	w.do("POST", path+"/pickup", `{"inspection":{"items":[]}}`).ok(200)
	damage := w.do("POST", path+"/damages", `{"description":"x","severity":"minor"}`).ok(201).id()
	before := string(w.do("GET", path, "").ok(200).body)
	mine := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	bodies := map[string]string{
		"extendBooking": fmt.Sprintf(`{"return_at":%q}`, w.in(30)), "swapBookingVehicle": fmt.Sprintf(`{"vehicle_id":%q}`,
			w.car), "assignBookingVehicle": fmt.Sprintf(`{"vehicle_id":%q}`, w.car),
		"correctBooking":         `{"reason":"x","return":{"mileage_mi":1}}`,
		"addBookingCharge":       `{"type":"fine","unit_price":{"amount":1,"currency":"USD"}}`,
		"addBookingDamage":       `{"description":"x","severity":"minor"}`,
		"setBookingDamageStatus": `{"status":"waived"}`, "updateBooking": `{"notes":"x"}`,
		"replaceBooking": w.booking(1, 20, ""),
	}
	calls := 0
	for _, rt := range w.api.Routes {
		if !strings.HasPrefix(rt.Path, "/v1/bookings/{id}") {
			continue
		}
		target := strings.NewReplacer("{id}", strings.TrimPrefix(path, "/v1/bookings/"), "{charge}", charge, "{damage}",
			damage).Replace(rt.Path)
		if strings.HasSuffix(target, "/payments") && rt.Body != nil {
			bodies[rt.ID] = `{"method":"card","amount":{"amount":1,"currency":"USD"}}`
		}
		w.do(rt.Method, target, bodies[rt.ID]).problem(404, "not_found")
		calls++
	}
	if calls < 25 {
		t.Errorf("%d operations", calls)
	}
	wantEqual(t, "list", w.do("GET", "/v1/bookings", "").pagination().Total, 0)
	// Nor can their vehicles, classes, customers and places be named.
	for body, want := range map[string]string{
		w.booking(1, 20, ""): "/customer_id /vehicle_id",
		fmt.Sprintf(`{"vehicle_class_id":%q,"pickup_location_id":%q,"pickup_at":%q,"return_at":%q}`, w.class, w.place,
			w.in(1), w.in(2)): "/pickup_location_id /vehicle_class_id",
	} {
		for _, pointer := range strings.Fields(want) {
			if got := w.do("POST", "/v1/bookings", body).faults(); !strings.Contains(got, pointer) {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
	}
	w.key = mine
	wantEqual(t, "unchanged", string(w.do("GET", path, "").ok(200).body), before)
}
