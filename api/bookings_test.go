package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// lotWorld is a world with something to rent: a class with a rate, a vehicle of it, a customer, and a location.
type lotWorld struct {
	*world
	class, car, customer, place, plan string
}

func newLot(t *testing.T) *lotWorld {
	t.Helper()
	return lotIn(newWorld(t))
}

// lotIn makes what bookings need in a world.
func lotIn(in *world) *lotWorld {
	in.t.Helper()
	w := &lotWorld{world: in}
	miles := 100
	grace := 60
	w.place = made(w, w.api.desk.Locations, record.Location{Name: "Airport", Timezone: "America/Chicago",
		Taxes: []record.TaxRate{{Name: "Tax", RateBP: 1000}}})
	w.plan = made(w, w.api.desk.RatePlans,
		record.RatePlan{Name: "Standard", RatePlanTerms: record.RatePlanTerms{Currency: "USD", DailyRate: usd(5000),
			DayRounding: "24h_with_grace", IncludedMilesPerDay: &miles, ExtraMileFee: money(50), RefuelFee: money(100),
			NoShowGraceMinutes: &grace,
			CancelSteps:        []record.CancelStep{{HoursBefore: 24, FeeBP: 5000}}, DepositAmount: money(20000),
			DepositMethod: "hold"}})
	w.class = made(w, w.api.desk.Classes,
		record.VehicleClass{Name: "Compact", RatePlanID: w.plan, BufferAfterMinutes: 60, BufferBeforeMinutes: 30})
	w.car = w.newCar()
	w.customer = made(w, w.api.desk.Customers,
		record.Customer{CustomerFields: record.CustomerFields{FirstName: "Ada", LastName: "Smith",
			Licence: &record.Licence{Number: "X1", ExpiresOn: "2100-01-01"}}})
	return w
}

func (w *lotWorld) newCar() string {
	w.t.Helper()
	return made(w, w.api.desk.Vehicles,
		record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B", ClassID: w.class, HomeLocationID: w.place},
			Status: record.VehicleAvailable})
}

// made writes a record past the interface, and returns its id.
func made[T any](w *lotWorld, log *record.Log[T], body T) string {
	w.t.Helper()
	id := w.api.Store.NextID()
	if _, _, err := log.Create(w.t.Context(), record.Author{Actor: "test"}, w.account, id, body); err != nil {
		w.t.Fatal(err)
	}
	return fleet.FormatID(log.Kind().Prefix, id)
}

func usd(minor int64) record.Money    { return record.Money{Amount: minor, Currency: "USD"} }
func money(minor int64) *record.Money { m := usd(minor); return &m }

// in writes the instant so many hours from now, as the world's clock has it.
func (w *lotWorld) in(hours float64) string {
	return w.api.Now().Add(time.Duration(hours * float64(time.Hour))).UTC().Format(time.RFC3339)
}

// wantAt wants an instant that was said so many hours from then, less than a minute ago.
func (w *lotWorld) wantAt(name string, got any, hours float64) {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, got.(string))
	since := w.api.Now().Add(time.Duration(hours * float64(time.Hour))).Sub(at)
	if err != nil || since < 0 || since > time.Minute {
		w.t.Errorf("%s: %v, want one up to a minute before %s", name, got, w.in(hours))
	}
}

// pass lets time go by.
func (w *lotWorld) pass(d time.Duration) { w.clock.Add(int64(d)) }

// booking is the body of a booking of the car, from and until so many hours from now.
func (w *lotWorld) booking(from, until float64, more string) string {
	return fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q%s}`, w.car, w.customer, w.in(from),
		w.in(until), more)
}

// book makes a booking and returns its path.
func (w *lotWorld) book(from, until float64, more string) string {
	w.t.Helper()
	return "/v1/bookings/" + w.do("POST", "/v1/bookings", w.booking(from, until, more)).ok(201).id()
}

// refused holds an answer against a 409 and returns its words.
func (r *reply) refused() string {
	r.t.Helper()
	return r.problem(409, "conflict").Detail
}

// minor is a member of money.
func minor(v any) float64 {
	m, _ := v.(map[string]any)
	n, _ := m["amount"].(float64)
	return n
}

// Who hands a vehicle over upon a deposit has one that is still authorized.
func TestADepositIsAuthorizedForATime(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/account", `{"booking_settings":{"deposit_due":"pickup"}}`).ok(200)
	path := w.book(24, 48, `,"confirm":true`)
	status := func() any { return w.do("GET", path, "").ok(200).object()["deposit"].(map[string]any)["status"] }
	w.do("POST", path+"/deposit/authorize", `{"expires_at":"`+w.in(2)+`"}`).ok(200)
	doDuty(t, w, "bookings: deposits lapse")
	wantEqual(t, "for two hours", status(), "authorized")
	w.pass(3 * time.Hour)
	if text := w.do("POST", path+"/pickup", "").refused(); !strings.Contains(text, "expired") {
		t.Errorf("refused with %q", text)
	}
	doDuty(t, w, "bookings: deposits lapse")
	wantEqual(t, "after three", status(), "expired")
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	doDuty(t, w, "bookings: deposits lapse")
	w.do("POST", path+"/pickup", "").ok(200)
	wantEqual(t, "without an end", status(), "authorized")
}

// The deposit of the class is asked for where the rate plan says nothing of one, or that it takes none. Where none was
// agreed an amount must be given.
func TestTheDepositOfAClassCountsWhereThePlanHasNone(t *testing.T) {
	w := newLot(t)
	asked := func() float64 {
		w.t.Helper()
		return minor(w.do("POST", "/v1/quotes",
			w.booking(24, 48, "")).ok(201).object()["rate_snapshot"].(map[string]any)["deposit_amount"])
	}
	w.do("PATCH", "/v1/rate_plans/"+w.plan, `{"deposit_amount":null,"deposit_method":"none"}`).ok(200)
	wantEqual(t, "nobody asks", asked(), 0.0)
	none := w.do("POST", w.book(1, 2, "")+"/deposit/authorize", "{}").problem(422, "validation_failed")
	if !strings.Contains(none.Detail, "No deposit was agreed") {
		t.Errorf("refused with %q", none.Detail)
	}
	w.do("PATCH", "/v1/vehicle_classes/"+w.class, `{"deposit_amount":{"amount":30000,"currency":"USD"}}`).ok(200)
	wantEqual(t, "the class asks", asked(), 30000.0)
	w.do("PATCH", "/v1/rate_plans/"+w.plan, `{"vehicle_class_ids":["`+w.class+`"]}`).ok(200)
	wantEqual(t, "a plan for the class says nothing", asked(), 30000.0)
	w.do("PATCH", "/v1/rate_plans/"+w.plan,
		`{"deposit_amount":{"amount":10000,"currency":"USD"},"deposit_method":"hold"}`).ok(200)
	wantEqual(t, "a plan for the class says less", asked(), 10000.0)
}

// What is missing of a tank or a battery is charged, so that a level of either must be of what the vehicle has.
func TestTheLevelOfWhatAVehicleDoesNotHaveIsRefused(t *testing.T) {
	w := newLot(t)
	w.car = made(w, w.api.desk.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "E",
		ClassID: w.class, HomeLocationID: w.place, FuelType: "electric"},
		Status: record.VehicleAvailable})
	path := w.book(1, 24, `,"confirm":true`)
	w.do("POST", path+"/pickup", `{"mileage_mi":10,"fuel_pct":100}`).problem(422, "validation_failed")
	w.do("POST", path+"/pickup", `{"mileage_mi":10,"battery_level":90}`).ok(200)
	w.pass(time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":20,"fuel_pct":50}`).problem(422, "validation_failed")
	w.do("POST", path+"/return", `{"mileage_mi":20,"battery_level":50}`).ok(200)
}

// What the timeline says in words it says in the money and the time of the place.
func TestTheTimelineSpeaksOfMoneyAndLocalTime(t *testing.T) {
	w := newLot(t)
	begun := w.api.Now()
	at := func(hours time.Duration) time.Time { return begun.Add(hours * time.Hour) }
	path := "/v1/bookings/" + w.do("POST", "/v1/bookings",
		fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true}`, w.car, w.customer,
			at(24).Format(time.RFC3339), at(48).Format(time.RFC3339))).ok(201).id()
	w.do("POST", path+"/extend", `{"return_at":"`+at(72).Format(time.RFC3339)+`"}`).ok(200)
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	w.do("POST", path+"/deposit/capture", `{"amount":{"amount":15000,"currency":"USD"}}`).ok(200)
	w.do("POST", path+"/deposit/apply", `{"amount":{"amount":1050,"currency":"USD"}}`).ok(200)
	w.do("POST", path+"/deposit/release", "").ok(200)
	var told []string
	for _, e := range w.do("GET", path+"/timeline", "").data() {
		if e["kind"] == "deposit" || e["kind"] == "change" {
			told = append(told, e["text"].(string))
		}
	}
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	local := func(hours time.Duration) string {
		return at(hours).In(zone).Format("Mon 2006-01-02 15:04 MST")
	}
	wantEqual(t, "timeline", strings.Join(told, "\n"),
		strings.Join([]string{"Deposit released: USD 139.50.", "Deposit applied to what is owed: USD 10.50.",
			"Deposit captured: USD 150.00.", "Deposit authorized: USD 200.00.",
			"Planned return " + local(72) + " instead of " + local(48) + "."}, "\n"))
}

// How full a vehicle was at a handover is known of the vehicle, until somebody knows newer: a tracker, or the
// next handover.
func TestLevelsOfHandoversReachTheVehicle(t *testing.T) {
	w := newLot(t)
	w.car = made(w, w.api.desk.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "P",
		ClassID: w.class, HomeLocationID: w.place, FuelType: "plug_in_hybrid"},
		Status: record.VehicleAvailable})
	levels := func() string {
		v := w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()
		return fmt.Sprintf("%v %v, %v %v", v["fuel_level_pct"], v["fuel_level_source"], v["battery_level"],
			v["battery_level_source"])
	}
	says := func(pct int) {
		id, _ := fleet.ParseID(fleet.VehiclePrefix, w.car)
		w.exec("INSERT INTO telemetry_latest (account, vehicle, signal, time, value) VALUES ($1, $2, 'fuel_level_pct', fromUnixTimestamp64Milli($3, 'UTC'), $4)",
			uint64(w.account), id, w.api.Now().UnixMilli(), float64(pct))
	}
	wantEqual(t, "unknown", levels(), "<nil> <nil>, <nil> <nil>")
	says(70)
	wantEqual(t, "by its tracker", levels(), "70 telematics, <nil> <nil>")
	path := w.book(1, 24, `,"confirm":true`)
	w.pass(30 * time.Minute)
	picked := w.do("POST", path+"/pickup", `{"mileage_mi":10,"fuel_pct":90,"battery_level":80}`).ok(200).object()
	wantEqual(t, "picked up", levels(), "90 pickup, 80 pickup")
	v := w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()
	wantEqual(t, "when", v["fuel_level_recorded_at"], picked["actual_pickup_at"])
	w.pass(time.Hour)
	says(65)
	wantEqual(t, "on the road", levels(), "65 telematics, 80 pickup")
	w.pass(time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":20,"inspection":{"fuel_pct":60}}`).ok(200)
	wantEqual(t, "returned", levels(), "60 return, 80 pickup")
	w.do("POST", path+"/reopen", "").ok(200)
	wantEqual(t, "not returned after all", levels(), "65 telematics, 80 pickup")
	w.do("POST", path+"/return", `{"mileage_mi":20,"fuel_pct":55,"battery_level":20}`).ok(200)
	wantEqual(t, "returned again", levels(), "55 return, 20 return")
	w.pass(time.Hour)
	inspection := inspections + "/" + w.do("POST", inspections,
		`{"vehicle_id":"`+w.car+`","fuel_pct":50,"signed_by":"A","items":[{"point":"tank","result":"pass"}]}`).ok(201).id()
	wantEqual(t, "a draft", levels(), "55 return, 20 return")
	w.do("POST", inspection+"/submit", "").ok(200)
	wantEqual(t, "inspected", levels(), "50 manual, 20 return")
}

// Who hands over without reading the odometer is told so, then and later. What an inspection read counts as if it had
// been said beside it.
func TestAHandoverWithoutAReadingSaysSo(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 24, `,"confirm":true`)
	warned := func(r *reply) int { return len(r.ok(200).object()["warnings"].([]any)) }
	wantEqual(t, "before", warned(w.do("GET", path, "")), 0)
	wantEqual(t, "picked up unread", warned(w.do("POST", path+"/pickup", "")), 1)
	w.pass(time.Hour)
	wantEqual(t, "returned unread", warned(w.do("POST", path+"/return", "")), 2)
	w.do("POST", path+"/reopen", "").ok(200)
	var told []string
	for _, e := range w.do("GET", path+"/timeline", "").data() {
		told = append(told, e["text"].(string))
	}
	for i, want := range []string{"Reopened.", "Returned on ", "Picked up on "} {
		if !strings.HasPrefix(told[i], want) ||
			i > 0 && !strings.HasSuffix(told[i], " at Airport. No odometer reading was taken.") {
			t.Errorf("the timeline: %q, want %q", told[i], want)
		}
	}

	w.car = w.newCar()
	path = w.book(1, 24, `,"confirm":true`)
	wantEqual(t, "read by the inspection",
		warned(w.do("POST", path+"/pickup", `{"inspection":{"mileage_mi":100,"fuel_pct":90}}`)), 0)
	w.pass(time.Hour)
	wantEqual(t, "too little", w.do("POST", path+"/return", `{"inspection":{"mileage_mi":99}}`).faults(),
		"/inspection/mileage_mi")
	back := w.do("POST", path+"/return", `{"fuel_pct":80,"inspection":{"mileage_mi":350}}`)
	wantEqual(t, "returned", warned(back), 0)
	wantEqual(t, "driven", back.object()["miles_driven"], 250.0)
	wantEqual(t, "missing fuel and miles", minor(back.object()["subtotal"]), 5000.0+150*50+10*100)
}

// Days that a pickup before the agreed time adds are charged, as those of an extension are, and whoever
// hands over is told.
func TestAnEarlyPickupIsChargedAndTold(t *testing.T) {
	w := newLot(t)
	told := func(b map[string]any) string { return fmt.Sprint(b["warnings"]) }
	path := w.book(48.5, 96, `,"confirm":true`)
	w.pass(48 * time.Hour)
	b := w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200).object()
	wantEqual(t, "half an hour early", told(b), "[]")
	wantEqual(t, "total", minor(b["total"]), 11000.0)

	w.car = w.newCar()
	path = w.book(48, 96, `,"confirm":true`)
	b = w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200).object()
	if text := told(b); !strings.Contains(text, "2 days before the agreed pickup") ||
		!strings.Contains(text, "charged as well") {
		t.Errorf("warnings %s", text)
	}
	wantEqual(t, "two days early", minor(b["total"]), 22000.0)
	wantEqual(t, "billed days", b["billed_days"], 4.0)
	wantEqual(t, "included miles", b["included_miles"], 400.0)
	w.pass(96 * time.Hour)
	b = w.do("POST", path+"/return", `{"mileage_mi":500}`).ok(200).object()
	wantEqual(t, "returned as agreed", minor(b["total"]), 22000.0)

	// Without a rate plan nothing can be worked out: that is said.
	w.car = w.newCar()
	id := w.api.Store.NextID()
	at := func(hours time.Duration) record.Instant { return record.InstantOf(w.api.Now().Add(hours * time.Hour)) }
	if _, _, err := w.api.desk.Bookings.Create(t.Context(), record.Author{Actor: "test"}, w.account, id,
		record.Booking{Status: record.BookingConfirmed, Currency: "USD",
			BookingFields: record.BookingFields{VehicleID: w.car, CustomerID: w.customer, PickupAt: at(5), ReturnAt: at(50)},
			BlockedFrom:   at(5), BlockedUntil: at(50)}); err != nil {
		t.Fatal(err)
	}
	b = w.do("POST", "/v1/bookings/"+fleet.FormatID(fleet.BookingPrefix, id)+"/pickup",
		`{"mileage_mi":500}`).ok(200).object()
	if text := told(b); !strings.Contains(text, "5 hours before the agreed pickup") ||
		!strings.Contains(text, "nothing was charged") {
		t.Errorf("warnings %s", text)
	}
}

// The odometer at pickup may be a typing error, or the meter wrong before: who says that it is right is believed, and
// somebody is told to look.
func TestAnOdometerBelowTheMeterIsTold(t *testing.T) {
	w := newLot(t)
	w.do("POST", "/v1/vehicles/"+w.car+"/meter_readings", `{"kind":"odometer_mi","value":45210}`).ok(201)
	w.pass(time.Minute)
	path := w.book(1, 48, `,"confirm":true`)
	told := fmt.Sprint(w.do("POST", path+"/pickup",
		`{"mileage_mi":4521,"confirm":["mileage"]}`).ok(200).object()["warnings"])
	if !strings.Contains(told, "4521 mi at pickup") || !strings.Contains(told, "45210 mi before") {
		t.Errorf("warnings %s", told)
	}

	// The vehicle that is driven off with instead has its own meter.
	path = w.bookAnother(1, 48)
	w.do("POST", "/v1/vehicles/"+w.car+"/meter_readings", `{"kind":"odometer_mi","value":300}`).ok(201)
	w.pass(time.Minute)
	wantEqual(t, "as the meter has it",
		fmt.Sprint(w.do("POST", path+"/pickup", `{"mileage_mi":300}`).ok(200).object()["warnings"]), "[]")
	other := w.newCar()
	w.do("POST", "/v1/vehicles/"+other+"/meter_readings", `{"kind":"odometer_mi","value":9000}`).ok(201)
	w.pass(time.Minute)
	swap := func(miles string) string {
		return fmt.Sprint(w.do("POST", path+"/swap_vehicle", `{"vehicle_id":"`+other+
			`","mileage_mi":310,"confirm":["mileage"],"pickup_mileage_mi":`+miles+`}`).ok(200).object()["warnings"])
	}
	if told := swap("900"); !strings.Contains(told, "9000 mi before") {
		t.Errorf("warnings after a swap %s", told)
	}
	third := w.newCar()
	w.do("POST", "/v1/vehicles/"+third+"/meter_readings", `{"kind":"odometer_mi","value":500.9}`).ok(201)
	w.pass(time.Minute)
	told = fmt.Sprint(w.do("POST", path+"/swap_vehicle",
		`{"vehicle_id":"`+third+`","mileage_mi":910,"pickup_mileage_mi":500}`).ok(200).object()["warnings"])
	if !strings.Contains(told, "9000 mi before") || strings.Contains(told, "500 mi at pickup") {
		t.Errorf("after the next swap, with the meter a fraction of a mile ahead: %s", told)
	}
}

// Desks hand over some minutes early: that costs no day, though the grace of the rental is used up.
func TestAPickupAFewMinutesEarlyCostsNothing(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72.4, `,"confirm":true`) // two days and 24 minutes of the 29 of grace
	w.pass(24*time.Hour - 10*time.Minute)
	b := w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200).object()
	wantEqual(t, "ten minutes early", minor(b["total"]), 11000.0)
	wantEqual(t, "told", fmt.Sprint(b["warnings"]), "[]")
	w.pass(48*time.Hour + 30*time.Minute)
	wantEqual(t, "returned", minor(w.do("POST", path+"/return", `{"mileage_mi":200}`).ok(200).object()["total"]), 11000.0)

	for minutes, total := range map[time.Duration]float64{60: 11000, 61: 16500} {
		path = w.bookAnother(24, 72)
		w.pass(24*time.Hour - minutes*time.Minute)
		wantEqual(t, fmt.Sprint(minutes, " minutes early"),
			minor(w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200).object()["total"]), total)
	}
}

// A booking that was moved at the price that was agreed is not charged for the days it was given when it is
// picked up early.
func TestAKeptPriceOutlastsAnEarlyPickup(t *testing.T) {
	w := newLot(t)
	for name, c := range map[string]struct{ move, early float64 }{"some minutes": {24, 0.1}, "two hours": {24, 2},
		"a week and two hours": {7 * 24, 2}} {
		path := w.bookAnother(10*24, 12*24)
		b := w.do("PATCH", path+"?reprice=false", fmt.Sprintf(`{"pickup_at":%q}`, w.in(10*24-c.move))).ok(200).object()
		wantEqual(t, name+": moved", minor(b["total"]), 11000.0)
		w.pass(time.Duration((10*24 - c.move - c.early) * float64(time.Hour)))
		b = w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200).object()
		wantEqual(t, name+": picked up early", minor(b["total"]), 11000.0)
		if text := fmt.Sprint(b["warnings"]); c.early > 1 && !strings.Contains(text, "nothing was charged") {
			t.Errorf("%s: warnings %s", name, text)
		}
	}
}

// What was agreed costs the price that was kept when the booking was moved, at the return and beside an extension too.
func TestAKeptPriceOutlastsReturnAndExtension(t *testing.T) {
	w := newLot(t)
	total := func(b *reply) float64 { t.Helper(); return minor(b.ok(200).object()["total"]) }
	for name, c := range map[string]struct{ pickup, back float64 }{"a day longer": {24, 72},
		"a week later": {8 * 24, 9 * 24}, "a week later and a day longer": {8 * 24, 10 * 24}} {
		path := w.bookAnother(24, 48)
		moved := fmt.Sprintf(`{"pickup_at":%q,"return_at":%q}`, w.in(c.pickup), w.in(c.back))
		wantEqual(t, name+": moved", total(w.do("PATCH", path+"?reprice=false", moved)), 5500.0)
		further := w.in(c.back + 24)
		w.pass(time.Duration(c.pickup * float64(time.Hour)))
		wantEqual(t, name+": picked up", total(w.do("POST", path+"/pickup", `{"mileage_mi":100}`)), 5500.0)
		w.pass(time.Duration((c.back - c.pickup) * float64(time.Hour)))
		wantEqual(t, name+": returned in time", total(w.do("POST", path+"/return", `{"mileage_mi":150}`)), 5500.0)
		wantEqual(t, name+": reopened", total(w.do("POST", path+"/reopen", "")), 5500.0)
		wantEqual(t, name+": extended by a day",
			total(w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, further))), 11000.0)
		w.pass(24 * time.Hour)
		wantEqual(t, name+": returned a day later", total(w.do("POST", path+"/return", `{"mileage_mi":150}`)), 11000.0)
	}
}

func TestABookingFromTheHoldToTheReturn(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72, "")
	b := w.do("GET", path, "").ok(200).object()
	for member, want := range map[string]any{"status": "pending", "currency": "USD", "billed_days": 2.0,
		"vehicle_class_id": w.class, "payment_status": "unpaid",
		"timezone": "America/Chicago", "included_miles": 200.0, "conflict": false, "is_overdue": false, "channel": "direct"} {
		wantEqual(t, member, b[member], want)
	}
	wantEqual(t, "total", minor(b["total"]), 11000.0)
	wantEqual(t, "taxes", minor(b["taxes_total"]), 1000.0)
	wantEqual(t, "due", minor(b["balance_due"]), 11000.0)
	if b["hold_expires_at"] == nil || b["rate_snapshot"] == nil {
		t.Errorf("hold until %v, rate %v", b["hold_expires_at"], b["rate_snapshot"])
	}
	// The vehicle is taken, and so are the buffers.
	if text := w.do("POST", "/v1/bookings", w.booking(72.5, 96, "")).refused(); !strings.Contains(text,
		fmt.Sprint(b["number"])) {
		t.Errorf("%q does not name what is in the way", text)
	}
	held := w.do("GET", path, "").ok(200).object()
	taken := w.do("POST", "/v1/bookings", w.booking(72.5, 96, "")).problem(409, "conflict").Conflicts
	if len(taken) != 1 || taken[0].Ref != held["id"] || taken[0].VehicleID != w.car ||
		taken[0].From.Format(time.RFC3339) != strings.Replace(held["blocked_from"].(string), ".000Z", "Z", 1) ||
		!taken[0].Until.After(taken[0].From.Time) {
		t.Errorf("in the way is %+v of %v", taken, held["blocked_from"])
	}
	w.do("POST", path+"/pickup", "").problem(409, "invalid_state_transition")
	b = w.do("POST", path+"/confirm", "").ok(200).object()
	wantEqual(t, "confirmed", b["status"], "confirmed")
	wantEqual(t, "hold", b["hold_expires_at"], nil)
	// A pickup four hours early, which makes a third day.
	w.pass(20 * time.Hour)
	b = w.do("POST", path+"/pickup",
		`{"mileage_mi":1000,"fuel_pct":100,"inspection":{"items":[{"point":"bumper","result":"pass"}],"signed_by":"A"}}`).
		ok(200).object()
	wantEqual(t, "active", b["status"], "active")
	wantEqual(t, "inspections", len(b["inspections"].([]any)), 1)
	if b["blocked_from"] != b["actual_pickup_at"] {
		t.Errorf("held from %v, picked up at %v", b["blocked_from"], b["actual_pickup_at"])
	}
	w.pass(51 * time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":999}`).problem(422, "validation_failed")
	b = w.do("POST", path+"/return", `{"mileage_mi":1350,"fuel_pct":90}`).ok(200).object()
	wantEqual(t, "completed", b["status"], "completed")
	wantEqual(t, "driven", b["miles_driven"], 350.0)
	wantEqual(t, "extra", b["extra_miles"], 50.0)
	wantEqual(t, "subtotal", minor(b["subtotal"]), 15000.0+2500+1000)
	// It came back early, and is free an hour later.
	w.do("POST", "/v1/bookings", w.booking(1, 2, "")).refused()
	w.do("POST", "/v1/bookings", w.booking(1.6, 3, "")).ok(201)
	history := w.do("GET", path+"/history", "").data()
	wantEqual(t, "revisions", len(history), 4)
	var told []string
	for _, e := range w.do("GET", path+"/timeline", "").data() {
		told = append(told, fmt.Sprint(e["text"]))
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{"Booked, pending.", "Confirmed.", "Picked up on ", "Returned on ",
		"Charged: mileage, USD 25.00.", "Inspection: pickup."} {
		if !strings.Contains(text, want) {
			t.Errorf("the timeline lacks %q:\n%s", want, text)
		}
	}
}
