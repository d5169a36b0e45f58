package api

import (
	"fmt"
	"strings"
	"testing"
)

// A refusal speaks of what was asked for, and its sentence says what is wrong: a clerk reads that, and not the
// list behind it.
func TestARefusalSaysWhatIsWrongWithWhatWasAskedFor(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 48, "")
	for _, c := range []struct {
		name, method, path, body, want string
		status                         int
	}{
		{"a return before the pickup", "POST", "/v1/bookings", w.booking(48, 24, ""),
			"return_at: must be after pickup_at.", 422},
		{"nobody's customer", "PATCH", path, `{"customer_id":"cus_1"}`, "customer_id: there is no such customer.", 422},
		{"two things at once", "POST", "/v1/vehicles", `{"year":5,"seats":-1}`,
			"make: must be given. errors names 3 more.", 422},
		{"a number", "POST", "/v1/bookings", w.booking(50, 60, `,"expected_mi":9999999`),
			"expected_mi: must be at most 1000000.", 422},
		{"a list", "POST", "/v1/vehicles", `[]`, "The body must be a JSON object.", 422},
		{"within a list", "POST", "/v1/bookings", w.booking(50, 60, `,"drivers":[{"role":"pilot"}]`), "drivers.0.", 422},
		{"no page", "GET", "/v1/bookings?page=0", "", "The parameter page must be between 1 and 10000.", 400},
		{"no page", "GET", "/v1/trips?per_page=0", "", "The parameter per_page must be between 1 and ", 400},
	} {
		p := problemIn(t, c.name, w.do(c.method, c.path, c.body))
		if p.Status != c.status || !strings.HasPrefix(p.Detail, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.name, p.Status, p.Detail, c.status, c.want)
		}
	}
}

// Whoever finds a class full is told so of what they asked for, and never of the booking that would go without
// because of them.
func TestAClassThatIsFullSaysSoOfWhatWasAskedFor(t *testing.T) {
	w := newLot(t)
	of := func(from, until float64) string {
		return fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true}`, w.class,
			w.customer, w.in(from), w.in(until))
	}
	other := w.do("POST", "/v1/bookings", of(24, 96)).ok(201).object()["number"].(string)
	refused := w.do("POST", "/v1/bookings", of(48, 60)).refused()
	if !strings.HasPrefix(refused, "None of the 1 vehicles of the class Compact is left ") {
		t.Errorf("refused with %q", refused)
	}
	if !strings.HasSuffix(refused, "that have no vehicle yet: "+other+".") {
		t.Errorf("names others than %s: %q", other, refused)
	}
	vehicle := w.do("POST", "/v1/bookings", w.booking(48, 60, `,"confirm":true`)).refused()
	if !strings.HasPrefix(vehicle, "The vehicle A B cannot be spared ") ||
		!strings.HasSuffix(vehicle, "that have no vehicle yet: "+other+".") {
		t.Errorf("refused with %q", vehicle)
	}
}
