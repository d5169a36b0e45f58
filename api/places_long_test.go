//go:build long

package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// placesWorld is a lot with a second location: two cars at the airport and one in Dallas.
type placesWorld struct {
	*lotWorld
	dallas, second, far string
}

func newPlaces(t *testing.T) *placesWorld {
	w := &placesWorld{lotWorld: newLot(t)}
	w.dallas = w.do("POST", "/v1/locations",
		`{"name":"Dallas","one_way_fee":{"amount":3000,"currency":"USD"}}`).ok(201).id()
	w.second = w.newCar()
	w.far = made(w.lotWorld, w.api.desk.Vehicles,
		record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B", Nickname: "Bluebell", ClassID: w.class,
			HomeLocationID: w.place, CurrentLocationID: w.dallas}, Status: record.VehicleAvailable})
	return w
}

// ofClass is the body of a booking of the class.
func (w *placesWorld) ofClass(from, until float64, more string) string {
	return fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true%s}`, w.class,
		w.customer, w.in(from), w.in(until), more)
}

func from(location string) string { return `,"pickup_location_id":"` + location + `"` }

// back is that a booking is returned at a location.
func back(location string) string { return `,"return_location_id":"` + location + `"` }

// elsewhere holds an answer against the refusal of a vehicle that is in the wrong place, and returns what
// it says to do.
func (r *reply) elsewhere() string {
	r.t.Helper()
	p := r.problem(409, "conflict")
	if len(p.Errors) != 1 || p.Errors[0].Code != "elsewhere" {
		r.t.Fatalf("refused with %q, %+v", p.Detail, p.Errors)
	}
	return p.Detail + " " + p.Errors[0].Detail
}

// Two cars are at the airport and one is in Dallas. So two can be promised at the airport, and the one in Dallas is not
// given to whoever waits at the airport, unless it is brought there: by a transfer that is planned, or by somebody of
// whom the caller says so.
func TestACarIsGivenWhereItIs(t *testing.T) {
	w := newPlaces(t)
	found := w.do("GET", fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s", w.in(24), w.in(48)),
		"").ok(200).object()
	var offers []string
	for _, c := range append(found["classes"].([]any), found["data"].([]any)...) {
		c := c.(map[string]any)
		price := c
		if p, ok := c["price"].(map[string]any); ok {
			price = p
			offers = append(offers, fmt.Sprint("class, ", c["left"], " left"))
		}
		offers = append(offers, fmt.Sprint(map[string]string{w.place: "airport",
			w.dallas: "Dallas"}[price["pickup_location_id"].(string)], " ", minor(price["total"]), " with ",
			len(price["taxes"].([]any)), " taxes"))
	}
	wantEqual(t, "each price says where and with what taxes", strings.Join(offers, "; "),
		"class, 2 left; airport 5500 with 1 taxes; class, 1 left; Dallas 5000 with 0 taxes; Dallas 5000 with 0 taxes; airport 5500 with 1 taxes; airport 5500 with 1 taxes")

	first := "/v1/bookings/" + w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.place))).ok(201).id()
	w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.place))).ok(201)
	if text := w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.place))).refused(); !strings.Contains(text,
		"at Airport") {
		t.Errorf("a third at the airport, where two cars are: %q", text)
	}
	if text := w.do("POST", first+"/assign_vehicle",
		fmt.Sprintf(`{"vehicle_id":%q}`, w.far)).elsewhere(); !strings.Contains(text, "Bluebell will be at Dallas") ||
		!strings.Contains(text, "not at Airport") || !strings.Contains(text, "elsewhere true") ||
		!strings.Contains(text, "to_location_id") {
		t.Errorf("the car of Dallas is refused with %q", text)
	}
	w.car = w.far
	w.do("POST", "/v1/bookings", w.booking(24, 48, from(w.place))).elsewhere()
	needs := w.do("POST", "/v1/bookings", w.ofClass(200, 224, from(w.dallas))).ok(201).member("number").(string)
	w.do("POST", "/v1/vehicles/"+w.far+"/blocks", fmt.Sprintf(
		`{"from":%q,"until":%q,"reason":"to the airport","to_location_id":%q}`, w.in(190), w.in(195), w.place)).refused()
	// somebody brings it, and Dallas has none for what is booked there
	brought := w.do("POST", first+"/assign_vehicle", fmt.Sprintf(`{"vehicle_id":%q,"elsewhere":true}`, w.far)).refused()
	if !strings.Contains(brought, needs) {
		t.Errorf("taking the only car of Dallas is refused with %q", brought)
	}
	// and brings it back
	brought = w.do("POST", "/v1/bookings",
		w.booking(24, 48, from(w.place)+back(w.dallas)+`,"elsewhere":true,"confirm":true`)).ok(201).id()
	w.do("POST", "/v1/bookings/"+brought+"/cancel", "").ok(200)

	// A transfer to the airport and one back leave Dallas what it needs.
	there := "/v1/blocks/" + w.do("POST", "/v1/vehicles/"+w.far+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"back","from_location_id":%q,"to_location_id":%q}`,
			w.in(150), w.in(160), w.dallas, w.dallas)).ok(201).id()
	block := w.do("POST", "/v1/vehicles/"+w.far+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"to the airport","to_location_id":%q}`, w.in(10), w.in(20), w.place))
	block.elsewhere() // that one begins in Dallas
	w.do("DELETE", there, "").ok(204)
}

// Dallas has one car. What is booked at the airport leaves it to Dallas, which availability says as well; and the other
// way round.
func TestEachTownRentsItsCars(t *testing.T) {
	w := newPlaces(t)
	left := func() (all string) {
		found := w.do("GET", fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s", w.in(24), w.in(48)),
			"").ok(200).object()
		for _, c := range found["classes"].([]any) {
			c := c.(map[string]any)
			town := map[string]string{w.place: "airport", w.dallas: "Dallas"}[c["pickup_location_id"].(string)]
			all += fmt.Sprint(town, " ", c["left"], ". ")
		}
		return all
	}
	for range 2 {
		w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.place))).ok(201)
	}
	wantEqual(t, "left with the airport sold out", left(), "airport 0. Dallas 1. ")
	w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.dallas))).ok(201)
	for _, town := range []string{w.dallas, w.place} {
		w.do("POST", "/v1/bookings", w.ofClass(30, 40, from(town))).refused()
	}
}

// The taxes of a rental are those of the location where it begins. A booking of a class whose location nobody names
// begins at the only one that there is; of several one must be named, or the bill would have no taxes.
func TestABookingOfAClassBeginsSomewhere(t *testing.T) {
	w := newLot(t)
	ofClass := func(from float64, more string) string {
		return fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q%s}`, w.class, w.customer,
			w.in(from), w.in(from+24), more)
	}
	told := func(b map[string]any) string { return fmt.Sprint(b["pickup_location_id"], " ", minor(b["total"])) }
	booked := w.do("POST", "/v1/bookings", ofClass(24, `,"confirm":true`)).ok(201)
	wantEqual(t, "at the only location", told(booked.object()), w.place+" 5500")
	path := "/v1/bookings/" + booked.id()
	w.do("POST", path+"/assign_vehicle", fmt.Sprintf(`{"vehicle_id":%q}`, w.car)).ok(200)
	w.pass(24 * time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":10}`).ok(200)
	w.pass(24 * time.Hour)
	wantEqual(t, "returned", told(w.do("POST", path+"/return", `{"mileage_mi":20}`).ok(200).object()), w.place+" 5500")
	quoted := w.do("POST", "/v1/quotes", ofClass(24, "")).ok(201).object()
	wantEqual(t, "quoted", quoted["pickup_location_id"], w.place)
	waits := "/v1/bookings/" + w.do("POST", "/v1/bookings", ofClass(24, "")).ok(201).id()

	dallas := w.do("POST", "/v1/locations", `{"name":"Dallas"}`).ok(201).id()
	made(w, w.api.desk.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
		ClassID: w.class, HomeLocationID: dallas}, Status: record.VehicleAvailable})
	for _, where := range []string{"/v1/bookings", "/v1/quotes"} {
		p := w.do("POST", where, ofClass(24, "")).problem(422, "validation_failed")
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/pickup_location_id" || p.Errors[0].Code != "required" {
			t.Errorf("%s of a class, at either of two locations: %+v", where, p.Errors)
		}
		wantEqual(t, where+" where it is named",
			w.do("POST", where, ofClass(72, from(dallas))).ok(201).object()["pickup_location_id"], dallas)
	}
	wantEqual(t, "taken away again", w.do("PATCH", waits, `{"pickup_location_id":null}`).faults(), "/pickup_location_id")
}

// A car is fetched from Dallas: from then on the airport has three, and the car's bookings begin there.
func TestATransferBringsACar(t *testing.T) {
	w := newPlaces(t)
	made := w.do("POST", "/v1/vehicles/"+w.far+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"fetched","to_location_id":%q}`, w.in(2), w.in(5), w.place)).ok(201)
	wantEqual(t, "from where it is", made.object()["from_location_id"], w.dallas)
	wantEqual(t, "a relocation", made.object()["kind"], "relocation")
	transfer := "/v1/blocks/" + made.id()
	left := func() string {
		var all []string
		for _, c := range w.do("GET", fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s", w.in(24), w.in(48)),
			"").ok(200).object()["classes"].([]any) {
			c := c.(map[string]any)
			all = append(all, fmt.Sprint(map[string]string{w.place: "airport",
				w.dallas: "Dallas"}[c["pickup_location_id"].(string)], " ", c["left"]))
		}
		return strings.Join(all, ", ")
	}
	wantEqual(t, "after it", left(), "airport 3")
	w.car = w.far
	path := w.book(24, 48, `,"confirm":true`) // where it will be, though nobody says where
	wantEqual(t, "begins", w.do("GET", path, "").object()["pickup_location_id"], w.place)
	if text := w.do("DELETE", transfer, "").elsewhere(); !strings.Contains(text,
		w.do("GET", path, "").member("number").(string)) {
		t.Errorf("a transfer that a booking needs is given up, or refused with %q", text)
	}
	w.do("PATCH", transfer, fmt.Sprintf(`{"to_location_id":%q}`, w.dallas)).elsewhere()
	w.do("POST", path+"/cancel", "").ok(200)
	for range 3 {
		w.do("POST", "/v1/bookings", w.ofClass(24, 48, from(w.place))).ok(201)
	}
	if text := w.do("DELETE", transfer, "").refused(); !strings.Contains(text, "B-") {
		t.Errorf("a transfer that the class needs is given up, or refused with %q", text)
	}
	w.pass(6 * time.Hour)
	doDuty(t, w.lotWorld, "vehicle states")
	wantEqual(t, "it has arrived", w.do("GET", "/v1/vehicles/"+w.far, "").object()["current_location_id"], w.place)
	w.do("PATCH", "/v1/vehicles/"+w.far, fmt.Sprintf(`{"current_location_id":%q}`, w.dallas)).ok(200)
	doDuty(t, w.lotWorld, "vehicle states")
	wantEqual(t, "somebody has seen it in Dallas since",
		w.do("GET", "/v1/vehicles/"+w.far, "").object()["current_location_id"], w.dallas)
	w.do("PUT", transfer, fmt.Sprintf(`{"from":%q,"until":%q,"reason":"x","from_location_id":"loc_9","to_location_id":"loc_9"}`, w.in(2), w.in(3))).faults()
}

// A rental from the airport to Dallas costs what the rate plan says, or else the account, or else Dallas. It is on the
// quote, on the bill and in the books, with its taxes; the car is in Dallas after it; and who returns it there without
// having said so pays what it costs.
func TestAOneWayRentalCostsWhatTheTwoPlacesSay(t *testing.T) {
	w := newPlaces(t)
	quoted := func() string {
		lines := w.do("POST", "/v1/quotes",
			w.booking(1, 25, from(w.place)+back(w.dallas))).ok(201).object()["rate_snapshot"].(map[string]any)["lines"].([]any)
		for _, l := range lines {
			if l := l.(map[string]any); l["type"] == "one_way" {
				return fmt.Sprint(minor(l["amount"]))
			}
		}
		return "nothing"
	}
	wantEqual(t, "by Dallas", quoted(), "3000")
	fee := func(amount int) string {
		return fmt.Sprintf(`"one_way_fees":[{"pickup_location_id":%q,"return_location_id":%q,"fee":{"amount":1,"currency":"USD"}},{"return_location_id":%q,"fee":{"amount":%d,"currency":"USD"}}]`,
			w.dallas, w.place, w.dallas, amount)
	}
	w.do("PATCH", "/v1/account", `{"booking_settings":{`+fee(4000)+`}}`).ok(200)
	wantEqual(t, "by the account", quoted(), "4000")
	w.do("PATCH", "/v1/rate_plans/"+w.plan, `{`+fee(5000)+`}`).ok(200)
	wantEqual(t, "by the rate plan", quoted(), "5000")
	wantEqual(t, "faults", w.do("PATCH", "/v1/account",
		`{"booking_settings":{"one_way_fees":[{"fee":{"amount":-1,"currency":"USD"}}]}}`).faults(),
		"/booking_settings/one_way_fees/0/fee/amount")

	agreed := w.book(1, 25, from(w.place)+back(w.dallas)+`,"confirm":true`)
	w.car = w.second
	round := w.book(1, 25, `,"confirm":true`)
	w.pass(time.Hour)
	for path, body := range map[string]string{agreed: "{}", round: `{"return_location_id":"` + w.dallas + `"}`} {
		w.do("POST", path+"/pickup", "").ok(200)
		b := w.do("POST", path+"/return", body).ok(200).object()
		wantEqual(t, "total", minor(b["total"]), 1.1*(5000+5000))
		wantEqual(t, "the car is left",
			w.do("GET", "/v1/vehicles/"+b["vehicle_id"].(string), "").object()["current_location_id"], w.dallas)
		if lines := fmt.Sprint(w.do("GET", path+"/charges", "").ok(200).data()); !strings.Contains(lines, "one_way") {
			t.Errorf("the bill does not say it: %s", lines)
		}
		brought := func(to string) string {
			b := w.do("POST", path+"/correct",
				`{"reason":"the wrong place","return":{"return_location_id":"`+to+`"}}`).ok(200).object()
			v := w.do("GET", "/v1/vehicles/"+b["vehicle_id"].(string), "").object()
			return fmt.Sprint(b["return_location_id"] == to, v["current_location_id"] == to, minor(b["total"]))
		}
		if path == round {
			wantEqual(t, "it was at the airport after all", brought(w.place), fmt.Sprint(true, true, 1.1*5000))
			wantEqual(t, "it was not", brought(w.dallas), fmt.Sprint(true, true, 1.1*(5000+5000)))
			w.do("POST", path+"/correct", `{"reason":"x","return":{"return_location_id":"loc_1"}}`).problem(422,
				"validation_failed")
			if told := w.entries(path, "correction"); !strings.Contains(told, "at return ") {
				t.Errorf("the timeline: %s", told)
			}
		}
		posted := w.do("GET", "/v1/ledger/entries?booking_id="+strings.TrimPrefix(path, "/v1/bookings/"), "").ok(200)
		if books := fmt.Sprint(posted.data()); !strings.Contains(books, "one_way") && !strings.Contains(books, "fee") {
			t.Errorf("the books do not say it: %s", books)
		}
	}
	// The next booking of the car begins in Dallas, and one from the airport is refused until somebody brings it.
	wantEqual(t, "next", w.do("GET", w.book(100, 124, ""), "").object()["pickup_location_id"], w.dallas)
	w.do("POST", "/v1/bookings", w.booking(200, 224, from(w.place))).elsewhere()
}
