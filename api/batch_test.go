package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

func TestABatchIsItsItems(t *testing.T) {
	w := newWorld(t)
	body := `{"data":[{"make":"A","model":"1","vin":"5YJ3E1EA7KF317001"},{"make":7},"x",{"make":"B","model":"2","vin":"5YJ3E1EA7KF317001"},{"make":"C","model":"3"}]}`
	results := w.do("POST", "/v1/vehicles/batch", body, "Idempotency-Key", "k").ok(200).data()
	var got []string
	for _, r := range results {
		code := ""
		if e, ok := r["error"].(map[string]any); ok {
			code = e["code"].(string)
		} else if record := r["record"].(map[string]any); record["id"] != r["id"] || record["revision"] != 1.0 {
			t.Errorf("result %+v", r)
		}
		got = append(got, fmt.Sprint(r["status"], code))
	}
	// Of the two that want one VIN either may come first.
	if s := strings.Join(got, " "); s != "201 422validation_failed 422validation_failed 409conflict 201" &&
		s != "409conflict 422validation_failed 422validation_failed 201 201" {
		t.Errorf("results are %s", s)
	}
	again := w.do("POST", "/v1/vehicles/batch", body, "Idempotency-Key", "k").ok(200)
	if again.header.Get("Idempotency-Replayed") != "true" || again.data()[4]["id"] != results[4]["id"] {
		t.Errorf("again: %+v", again.data())
	}
	if n := len(w.do("GET", "/v1/vehicles", "").ok(200).data()); n != 2 {
		t.Errorf("%d vehicles were made", n)
	}
	w.do("POST", "/v1/vehicles/batch", `{"data":[]}`).problem(422, "validation_failed")
	w.do("POST", "/v1/vehicles/batch", `{}`).problem(422, "validation_failed")
	w.do("POST", "/v1/vehicles/batch", `{"data":[`+strings.Repeat(`{"make":"A"},`, 100)+`{"make":"A"}]}`).problem(422,
		"validation_failed")
	w.do("POST", "/v1/vehicles/batch", body, "Authorization",
		"Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403, "insufficient_scope")
}
