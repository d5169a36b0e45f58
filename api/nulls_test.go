package api

import (
	"encoding/json"
	"testing"
)

// A client sees every member that there is: what was never said is null, whether one record is asked for, a list, or
// one within another.
func TestWhatIsNotKnownIsNull(t *testing.T) {
	w := newLot(t)
	made := w.do("POST", "/v1/bookings",
		`{"vehicle_class_id":"`+w.class+`","pickup_at":"`+w.in(5)+`","return_at":"`+w.in(29)+`"}`).ok(201)
	one := w.do("GET", "/v1/bookings/"+made.id()+"?expand=vehicle_class", "").ok(200).object()
	listed := w.do("GET", "/v1/bookings", "").ok(200).data()[0]
	within := one["vehicle_class"].(map[string]any)
	for name, object := range map[string]map[string]any{"made": made.object(), "one": one, "listed": listed} {
		for member, want := range map[string]any{"vehicle_id": nil, "customer_id": nil, "promo_code": nil,
			"cancellation": nil, "expected_mi": nil} {
			if got, there := object[member]; !there || got != want {
				t.Errorf("%s: %s is %v, there: %v", name, member, got, there)
			}
		}
		if text, _ := json.Marshal(object["drivers"]); string(text) != "[]" {
			t.Errorf("%s: nobody drives, said as %s", name, text)
		}
	}
	if got, there := within["code"]; !there || got != nil {
		t.Errorf("code of the class within: %v, there: %v", got, there)
	}
	// What was read can be written back.
	text, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	w.do("PUT", "/v1/bookings/"+made.id(), string(text)).ok(200)
}
