package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Somebody who sends back what he read, or says it in other words, changes nothing: the rates may have risen since.
func TestWhoSendsABookingBackUnchangedPaysWhatHePaid(t *testing.T) {
	w := newLot(t)
	other := made(w, w.api.desk.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Bob"}})
	planID, err := fleet.ParseID(fleet.RatePlanPrefix, w.plan)
	if err != nil {
		t.Fatal(err)
	}
	price := func(daily int64) {
		if _, err := w.api.desk.RatePlans.Update(t.Context(), record.Author{Actor: "test"}, w.account, planID, 0,
			func(rec *record.Record[record.RatePlan]) error {
				rec.Body.DailyRate = usd(daily)
				rec.Body.Extras = []record.Extra{{Code: "seat", Name: "Seat", Kind: "extra", Price: usd(300), Per: "day"},
					{Code: "gps", Name: "GPS", Kind: "extra", Price: usd(200), Per: "day"}}
				rec.Body.Promotions = []record.Promotion{{Code: "FALL", DiscountBP: 500}}
				return nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	price(4000)
	bare := w.booking(24, 72, `,"confirm":true`)
	path := "/v1/bookings/" + w.do("POST", "/v1/bookings", bare).ok(201).id()
	w.car = w.newCar()
	rich := w.book(24, 72, fmt.Sprintf(`,"confirm":true,"promo_code":"FALL","drivers":[{"customer_id":%q},{"customer_id":%q}],"extras":[{"code":"seat"},{"code":"gps","quantity":2}]`,
		w.customer, other))
	price(7000)

	same := func(name, path, answer string, revision any, r *reply) {
		t.Helper()
		b := r.ok(200).object()
		text, _ := json.Marshal([]any{b["total"], b["charges"]})
		wantEqual(t, name+" costs", string(text), answer)
		if revision != nil {
			wantEqual(t, name+" is revision", b["revision"], revision)
		}
	}
	stands := func(path string) (string, any, string) {
		r := w.do("GET", path, "").ok(200)
		text, _ := json.Marshal([]any{r.object()["total"], r.object()["charges"]})
		return string(text), r.object()["revision"], string(r.body)
	}
	for _, path := range []string{path, rich} {
		costs, revision, read := stands(path)
		same("what was read", path, costs, revision, w.do("PUT", path, read))
		same("a patch of it", path, costs, revision, w.do("PATCH", path, read))
	}
	costs, revision, _ := stands(path)
	for _, patch := range []string{`{"drivers":[]}`, `{"extras":[]}`, `{"drivers":null,"extras":null}`,
		`{"promo_code":"","protection_plan":"","rate_plan_id":null,"delivery_address":""}`,
		`{"external_refs":[],"metadata":{},"custom_fields":{},"notes":""}`,
		`{"channel":null,"return_location_id":null,"vehicle_class_id":null}`} {
		same(patch, path, costs, revision, w.do("PATCH", path, patch))
	}
	same("what made it", path, costs, revision, w.do("PUT", path, bare[:len(bare)-len(`,"confirm":true}`)]+"}"))
	for _, patch := range []string{`{"notes":"x","drivers":[]}`,
		fmt.Sprintf(`{"drivers":[{"customer_id":%q}]}`, w.customer), `{"expected_mi":0}`} {
		same(patch, path, costs, nil, w.do("PATCH", path, patch))
	}
	costs, _, _ = stands(rich)
	for _, patch := range []string{fmt.Sprintf(`{"drivers":[{"customer_id":%q},{"customer_id":%q}]}`, other, w.customer),
		`{"extras":[{"code":"gps","quantity":2},{"code":"seat","quantity":1}]}`, `{"promo_code":" fall "}`} {
		same(patch, rich, costs, nil, w.do("PATCH", rich, patch))
	}
	// What is changed indeed costs what it costs now.
	wantEqual(t, "a seat more", minor(w.do("PATCH", path, `{"extras":[{"code":"seat"}]}`).ok(200).object()["total"]),
		2*(7000.0+300)*1.1)

	// Out on the road what was planned stands, and sending it back does no harm either.
	w.pass(24 * 3600e9)
	w.do("POST", rich+"/pickup", `{"mileage_mi":10}`).ok(200)
	costs, revision, read := stands(rich)
	same("on the road", rich, costs, revision, w.do("PUT", rich, read))
	w.do("PATCH", rich, `{"extras":[]}`).problem(409, "invalid_state_transition")
}
