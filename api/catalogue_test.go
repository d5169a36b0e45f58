//go:build long

package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

func TestTheCatalogueIsWrittenAndFound(t *testing.T) {
	w := newWorld(t)
	plan := w.do("POST", "/v1/rate_plans",
		`{"name":"Standard","currency":"USD","daily_rate":{"amount":5000,"currency":"USD"},"channels":["direct","turo"],
		"tiers":[{"days":3,"price":{"amount":14000,"currency":"USD"}},{"days":7,"price":{"amount":30000,"currency":"USD"}}],
		"seasons":[{"name":"Summer","from":"2026-06-01","until":"2026-08-31","factor_bp":13000}],"cancellation_steps":[{"hours_before":72,"fee_bp":2500}],
		"promotions":[{"code":"HALLO","discount_bp":1000}],"priority":5,"valid_from":"2026-01-01","valid_until":"2026-12-31"}`).ok(201)
	class := w.do("POST", "/v1/vehicle_classes", `{"name":"Compact","code":"CCAR","rank":2,"rate_plan_id":"`+plan.id()+
		`","deposit_amount":{"amount":20000,"currency":"USD"}}`).ok(201)
	location := w.do("POST", "/v1/locations",
		`{"name":"Airport","code":"AUS","timezone":"America/Chicago","address":{"city":"Austin","country":"US"},"lat":30.19,"lng":-97.66,
		"opening_hours":[{"days":["mon","tue"],"from":"08:00","until":"24:00"}],"taxes":[{"name":"State","rate_bp":1000}],"one_way_fee":{"amount":9900,"currency":"USD"}}`).ok(201)
	w.do("POST", "/v1/vehicle_classes", `{"name":"Van","code":"FVAN","rank":7}`).ok(201)
	for path, want := range map[string]string{
		"/v1/rate_plans?channels=turo": "Standard", "/v1/rate_plans?channels=phone": "",
		"/v1/rate_plans?currency=USD&q=stand": "Standard", "/v1/rate_plans?priority[gte]=6": "",
		"/v1/vehicle_classes?sort=-rank": "Van Compact", "/v1/vehicle_classes?code=CCAR": "Compact",
		"/v1/vehicle_classes?rate_plan_id=" + plan.id(): "Compact",
		"/v1/locations?city=Austin":                     "Airport", "/v1/locations?country=DE": "",
		"/v1/locations?q=aus+airport": "Airport",
	} {
		wantEqual(t, path, w.do("GET", path, "").names(), want)
	}
	wantEqual(t, "its location", location.header.Get("Location"), "/v1/locations/"+location.id())
	wantEqual(t, "tiers", len(plan.object()["tiers"].([]any)), 2)
	// What was read can be written back, and a patch leaves the rest.
	for _, r := range []*reply{plan, class, location} {
		path := r.header.Get("Location")
		wantEqual(t, path, w.do("PUT", path, string(w.do("GET", path, "").ok(200).body)).ok(200).object()["revision"], 1.0)
		wantEqual(t, path, w.do("PATCH", path, `{"name":"New"}`).ok(200).object()["revision"], 2.0)
		wantEqual(t, path, len(w.do("GET", path+"/history", "").data()), 2)
	}
	wantEqual(t, "after a patch", len(w.do("GET", "/v1/rate_plans/"+plan.id(), "").ok(200).object()["tiers"].([]any)), 2)
	w.do("POST", "/v1/vehicle_classes", `{"name":"Other","code":"c car"}`).problem(409, "conflict")
}

func TestACatalogueThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	theirs := w.do("POST", "/v1/vehicle_classes", `{"name":"A"}`, "Authorization", "Bearer "+other).ok(201).id()
	usd := func(n int) string { return fmt.Sprintf(`{"amount":%d,"currency":"USD"}`, n) }
	plan := func(more string) string {
		return `{"name":"A","currency":"USD","daily_rate":` + usd(5000) + `,` + more + `}`
	}
	for _, c := range []struct{ path, body, want string }{
		{"rate_plans", `{"name":"A","currency":"USD","daily_rate":{"amount":1,"currency":"EUR"}}`, "/daily_rate/currency"},
		{"rate_plans", `{"name":"A","currency":"usd","daily_rate":` + usd(1) + `}`, "/currency"},
		{"rate_plans", `{"name":"A","currency":"USD","daily_rate":` + usd(-1) + `}`, "/daily_rate/amount"},
		{"rate_plans", `{"name":"A","currency":"USD","daily_rate":{"amount":9223372036854775807,"currency":"USD"}}`,
			"/daily_rate/amount"},
		{"rate_plans", plan(`"tiers":[{"days":7,"price":` + usd(1) + `},{"days":7,"price":` + usd(1) + `}]`),
			"/tiers/1/days"},
		{"rate_plans", plan(`"tiers":[{"days":7,"price":` + usd(1) + `},{"days":3,"price":{"amount":1,"currency":"EUR"}}]`),
			"/tiers/1/price/currency /tiers/1/days"},
		{"rate_plans", plan(`"seasons":[{"name":"s","from":"2026-05-02","until":"2026-05-01","factor_bp":11000}]`),
			"/seasons/0/until"},
		{"rate_plans", plan(`"seasons":[{"name":"s","from":"2026-05-01","until":"2026-05-01"}]`), "/seasons/0"},
		{"rate_plans",
			plan(`"seasons":[{"name":"s","from":"2026-05-01","until":"2026-05-01","factor_bp":11000,"daily_rate":` + usd(1) +
				`}]`), "/seasons/0/factor_bp"},
		{"rate_plans", plan(`"seasons":[{"name":"s","from":"2026-02-30","until":"2026-05-01","factor_bp":11000}]`),
			"/seasons/0/from"},
		{"rate_plans", plan(`"weekday_factors":[{"day":"sat","factor_bp":11000},{"day":"sat","factor_bp":12000}]`),
			"/weekday_factors/1/day"},
		{"rate_plans", plan(`"holidays":[{"date":"2026-12-25","factor_bp":11000},{"date":"2026-12-25","factor_bp":12000}]`),
			"/holidays/1/date"},
		{"rate_plans", plan(`"promotions":[{"code":"x","discount_bp":100},{"code":" X","discount_bp":100}]`),
			"/promotions/1/code"},
		{"rate_plans", plan(`"promotions":[{"code":"x"},{"code":"y","discount_bp":100,"amount":` + usd(1) + `}]`),
			"/promotions/0/discount_bp /promotions/1/discount_bp"},
		{"rate_plans", plan(`"promotions":[{"code":"x","discount_bp":100,"from":"2026-02-02","until":"2026-02-01"}]`),
			"/promotions/0/until"},
		{"rate_plans", plan(`"extras":[{"code":"x","name":"x","price":` + usd(1) +
			`},{"code":"x","name":"y","price":{"amount":1,"currency":"JPY"}}]`), "/extras/1/code /extras/1/price/currency"},
		{"rate_plans", plan(`"cancellation_steps":[{"hours_before":1,"fee_bp":100},{"hours_before":1,"fee_bp":200}]`),
			"/cancellation_steps/1/hours_before"},
		{"rate_plans", plan(`"young_driver_fee":` + usd(1)), "/young_driver_age"},
		{"rate_plans", plan(`"min_rental_days":3,"max_rental_days":2`), "/max_rental_days"},
		{"rate_plans", plan(`"valid_from":"2026-02-02","valid_until":"2026-02-01"`), "/valid_until"},
		{"rate_plans", plan(`"channels":["direct","fax"]`), "/channels/1"},
		{"rate_plans", plan(`"vehicle_class_ids":["` + theirs + `","x"]`), "/vehicle_class_ids/0 /vehicle_class_ids/1"},
		{"vehicle_classes", `{"name":"A","rate_plan_id":"rat_1"}`, "/rate_plan_id"},
		{"vehicle_classes", `{"name":"A","rate_plan_id":"x"}`, "/rate_plan_id"},
		{"vehicle_classes", `{"name":"A","daily_rate":` + usd(1) + `,"extra_mile_fee":{"amount":1,"currency":"EUR"}}`,
			"/extra_mile_fee/currency"},
		{"vehicle_classes", `{"name":"A","daily_rate":` + usd(-1) + `}`, "/daily_rate/amount"},
		{"vehicle_classes", `{"name":"A","min_rental_days":3,"max_rental_days":2}`, "/max_rental_days"},
		{"locations", `{"name":"A","timezone":"Mars/Olympus"}`, "/timezone"},
		{"locations", `{"name":"A","lat":1}`, "/lat"},
		{"locations", `{"name":"A","opening_hours":[{"days":["mon","mon","moon"],"from":"18:00","until":"08:00"}]}`,
			"/opening_hours/0/days/1 /opening_hours/0/days/2 /opening_hours/0/until"},
		{"locations", `{"name":"A","taxes":[{"name":"a","rate_bp":1},{"name":"a","rate_bp":2}]}`, "/taxes/1/name"},
		{"locations", `{"name":"A","one_way_fee":` + usd(1) + `,"delivery_fee":{"amount":-1,"currency":"EUR"}}`,
			"/delivery_fee/amount /one_way_fee/currency"},
	} {
		if got := w.do("POST", "/v1/"+c.path, c.body).faults(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, got, c.want)
		}
	}
}

func TestWhatIsInUseIsNotArchived(t *testing.T) {
	w := newWorld(t)
	plan := w.do("POST", "/v1/rate_plans",
		`{"name":"A","currency":"USD","daily_rate":{"amount":1,"currency":"USD"}}`).ok(201).id()
	class := w.do("POST", "/v1/vehicle_classes", `{"name":"A","rate_plan_id":"`+plan+`"}`).ok(201).id()
	location := w.do("POST", "/v1/locations", `{"name":"A"}`).ok(201).id()
	for _, path := range []string{"/v1/rate_plans/" + plan, "/v1/vehicle_classes/" + class, "/v1/locations/" + location} {
		user := w.vehicle(`{"make":"A","model":"B","vehicle_class_id":"` + class + `","current_location_id":"` + location +
			`","rate_plan_id":"` + plan + `"}`)
		p := w.do("DELETE", path, "").problem(409, "conflict")
		if !strings.Contains(p.Detail, "vehicle A B") || p.Errors[0].Code != "in_use" {
			t.Errorf("%s: %+v", path, p)
		}
		w.do("DELETE", "/v1/vehicles/"+user, "").ok(204)
	}
	if p := w.do("DELETE", "/v1/rate_plans/"+plan, "").problem(409, "conflict"); !strings.Contains(p.Detail,
		"vehicle class A") {
		t.Errorf("used by a class: %+v", p)
	}
	for _, path := range []string{"/v1/vehicle_classes/" + class, "/v1/rate_plans/" + plan, "/v1/locations/" + location} {
		w.do("DELETE", path, "").ok(204)
	}
	wantEqual(t, "left", w.do("GET", "/v1/vehicle_classes", "").names()+"|"+
		w.do("GET", "/v1/vehicle_classes?archived=true", "").names(), "|A")
}

// What a booking names is needed until its vehicle is back: its taxes, fees and rates are still to come.
func TestWhatABookingNamesIsNotArchived(t *testing.T) {
	w := newLot(t)
	w.car = w.newCar()
	paths := []string{"/v1/vehicle_classes/" + w.class, "/v1/locations/" + w.place, "/v1/rate_plans/" + w.plan,
		"/v1/customers/" + w.customer, "/v1/vehicles/" + w.car}
	active, pending := w.book(0.01, 24, `,"confirm":true`), w.book(100, 124, `,"hold_minutes":600`)
	held := func(booking string) {
		t.Helper()
		number := fmt.Sprint(w.do("GET", booking, "").object()["number"])
		for _, path := range paths {
			p := w.do("DELETE", path, "").problem(409, "conflict")
			if said := fmt.Sprint(p.Detail, p.Errors); !strings.Contains(said, number) {
				t.Errorf("%s: %s does not name %s", path, said, number)
			}
		}
	}
	held(active)
	held(pending)
	w.do("POST", active+"/pickup", "").ok(200)
	w.do("DELETE", paths[4], "").problem(409, "conflict")
	paths = paths[:4]
	held(active)
	w.do("POST", active+"/return", "").ok(200)
	w.do("POST", pending+"/confirm", "").ok(200)
	held(pending)
	w.do("POST", pending+"/cancel", "").ok(200)
	// What is over keeps nothing, and the vehicles and the class can be archived first.
	for _, user := range w.do("GET", "/v1/vehicles", "").data() {
		w.do("DELETE", "/v1/vehicles/"+user["id"].(string), "").ok(204)
	}
	for _, path := range paths {
		w.do("DELETE", path, "").ok(204)
	}
}
