package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// ids are what nobody can read aloud.
var ids = regexp.MustCompile(`\b(veh|bkg|cus|quo|pay|wo|chg|vcl|loc|rat|blk)_\d+`)

// A clerk's day of refusals: cars that are taken, bookings that cannot go on, customers that may not rent. Every
// message, and all that the timeline tells, speaks of plates, names and numbers; only what programs read has ids.
func TestMessagesSpeakOfPlatesAndNames(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/vehicles/"+w.car, `{"license_plate":"KLM-123","nickname":"Blue Polo"}`).ok(200)
	banned := w.do("POST", "/v1/customers", `{"first_name":"Bob","last_name":"Gone"}`).ok(201).id()
	w.do("POST", "/v1/customers/"+banned+"/do_not_rent", `{"active":true,"reason_code":"unpaid"}`).ok(200)
	book := func(customer, vehicle string, from, until float64, more string) *reply {
		return w.do("POST", "/v1/bookings", fmt.Sprintf(`{"customer_id":%q,"vehicle_id":%q,"pickup_at":%q,"return_at":%q%s}`,
			customer, vehicle, w.in(from), w.in(until), more))
	}
	made := book(w.customer, w.car, 1, 25, `,"confirm":true`).ok(201)
	number, path := fmt.Sprint(made.object()["number"]), "/v1/bookings/"+made.id()
	cancelled := book(w.customer, w.car, 100, 120, "").ok(201).id()
	w.do("POST", "/v1/bookings/"+cancelled+"/cancel", `{}`).ok(200)
	refusals := map[string]*reply{
		"taken":           book(w.customer, w.car, 10, 30, ""),
		"a banned person": book(banned, w.car, 200, 220, `,"confirm":true`),
		"return first":    w.do("POST", path+"/return", `{"mileage_mi":1}`),
		"cancelled":       w.do("POST", "/v1/bookings/"+cancelled+"/confirm", `{}`),
		"archive":         w.do("DELETE", path, ""),
		"a block": w.do("POST", "/v1/vehicles/"+w.car+"/blocks",
			fmt.Sprintf(`{"from":%q,"until":%q,"reason":"wash"}`, w.in(2), w.in(3))),
		"retire":  w.do("POST", "/v1/vehicles/"+w.car+"/status", `{"status":"retired","reason":"sold"}`),
		"deposit": w.do("POST", path+"/deposit/capture", `{}`),
	}
	batch := w.do("POST", "/v1/bookings/batch",
		fmt.Sprintf(`{"data":[{"customer_id":%q,"vehicle_id":%q,"pickup_at":%q,"return_at":%q}]}`, w.customer, w.car,
			w.in(3), w.in(9))).ok(200)
	refused, err := json.Marshal(batch.data()[0]["error"])
	if err != nil {
		t.Fatal(err)
	}
	refusals["in a batch"] = &reply{t: t, status: 409, body: refused}
	said := ""
	for what, r := range refusals {
		var p rest.Problem
		if err := json.Unmarshal(r.body, &p); err != nil || r.status < 400 {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
		texts := []string{p.Detail}
		for _, f := range p.Errors {
			texts = append(texts, f.Detail)
		}
		for _, text := range texts {
			if ids.MatchString(text) {
				t.Errorf("%s: %s", what, text)
			}
		}
		said += what + ": " + strings.Join(texts, " ") + "\n"
	}
	for _, want := range []string{"KLM-123 (Blue Polo)", number, "Bob Gone (C-"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody speaks of %s:\n%s", want, said)
		}
	}
	// Who may not read customers hears their number.
	key := w.newKey(w.account, auth.BookingsRead, auth.BookingsWrite)
	blind := w.do("POST", "/v1/bookings",
		fmt.Sprintf(`{"customer_id":%q,"vehicle_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true}`, banned, w.car,
			w.in(300), w.in(310)),
		"Authorization", "Bearer "+key)
	if text := string(blind.body); blind.status != 409 || strings.Contains(text, "Bob") || !strings.Contains(text, "C-") {
		t.Errorf("without customers:read: %s", text)
	}

	other := w.newCar()
	w.do("PATCH", "/v1/vehicles/"+other, `{"license_plate":"XYZ-9"}`).ok(200)
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(`{"vehicle_id":%q,"reason":"flat tyre"}`, other)).ok(200)
	charge := w.do("POST", path+"/charges",
		`{"type":"cleaning","unit_price":{"amount":500,"currency":"USD"}}`).ok(201).id()
	w.do("POST", path+"/charges/"+charge+"/reverse", "").ok(201)
	told := ""
	for _, entry := range w.do("GET", path+"/timeline", "").ok(200).data() {
		told += fmt.Sprint(entry["text"]) + "\n"
	}
	if ids.MatchString(told) || !strings.Contains(told, "XYZ-9 (A B) instead of KLM-123 (Blue Polo)") {
		t.Errorf("timeline:\n%s", told)
	}
}
