package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// A clerk types 200,000 miles instead of 20,000 at pickup. That is doubted, and said to be right all the same; at the
// return it is found out and corrected, and the extra miles are charged as if nothing had been wrong.
func TestAZeroTooManyAtPickupIsCorrected(t *testing.T) {
	w := newLot(t)
	readings := "/v1/vehicles/" + w.car + "/meter_readings"
	w.do("POST", readings, `{"kind":"odometer_mi","value":19990}`).ok(201)
	w.pass(time.Hour)
	path := w.book(1, 48, `,"confirm":true`)
	doubted := w.do("POST", path+"/pickup", `{"mileage_mi":200000,"fuel_pct":100}`).problem(409, "confirmation_required")
	wantEqual(t, "what to send", fmt.Sprint(doubted.Confirm), "[mileage]")
	wantEqual(t, "which member", doubted.Errors[0].Pointer, "/mileage_mi")
	if !strings.Contains(doubted.Detail, "would show 200000 mi, 180010 mi more than the 19990 mi that it showed") ||
		!strings.Contains(doubted.Detail, `"confirm": ["mileage"]`) {
		t.Errorf("the doubt: %s", doubted.Detail)
	}
	w.do("POST", path+"/pickup", `{"mileage_mi":200000,"fuel_pct":100,"confirm":["everything"]}`).problem(422,
		"validation_failed")
	tag := w.do("POST", path+"/pickup",
		`{"mileage_mi":200000,"fuel_pct":100,"confirm":["mileage"]}`).ok(200).header.Get("ETag")
	w.do("POST", readings, `{"kind":"odometer_mi","value":20010}`).problem(409, "confirmation_required")
	seen := w.do("POST", readings, `{"kind":"odometer_mi","value":20010,"confirm":["mileage"]}`).ok(201).object()
	wantEqual(t, "what was read since contradicts it", seen["voided"], true)
	w.pass(47 * time.Hour)
	back := `{"mileage_mi":20350,"fuel_pct":90}`
	if p := w.do("POST", path+"/return", back).problem(422, "validation_failed"); !strings.Contains(p.Errors[0].Detail,
		"correct the pickup") {
		t.Errorf("the refusal says %+v", p.Errors)
	}

	w.do("POST", path+"/correct", `{"pickup":{"mileage_mi":20000}}`).problem(422, "validation_failed") // without a reason
	b := w.do("POST", path+"/correct", `{"reason":"a zero too many","pickup":{"mileage_mi":20000}}`, "If-Match",
		tag).ok(200).object()
	wantEqual(t, "at pickup", b["pickup_mileage_mi"], 20000.0)
	again := w.do("POST", path+"/correct", `{"reason":"a zero too many","pickup":{"mileage_mi":20000}}`).ok(200).object()
	wantEqual(t, "the same again is no revision", again["revision"], b["revision"])
	w.do("POST", path+"/correct", `{"reason":"x","pickup":{"mileage_mi":20001}}`, "If-Match", tag).problem(412,
		"precondition_failed")
	b = w.do("POST", path+"/return", back).ok(200).object()
	wantEqual(t, "driven", b["miles_driven"], 350.0)
	wantEqual(t, "two days, 150 miles at 0.50, 10 % of a tank at 1.00, and taxes", minor(b["total"]),
		(2*5000.0+150*50+10*100)*1.1)

	told := w.do("GET", path+"/timeline", "").data()
	var lines []string
	for _, e := range told {
		if e["kind"] == "correction" {
			lines = append(lines, fmt.Sprint(e["actor"], ": ", e["text"]))
		}
	}
	wantEqual(t, "the timeline", strings.Join(lines, "\n"),
		fmt.Sprintf("%v: Corrected: odometer of A B at pickup 20000 mi instead of 200000 mi. Reason: a zero too many",
			b["corrections"].([]any)[0].(map[string]any)["actor"]))
	var valid []string
	for _, m := range w.do("GET", readings+"?sort=recorded_at", "").data() {
		if m["voided"] == false {
			valid = append(valid, fmt.Sprint(m["value"]))
		}
	}
	wantEqual(t, "readings that count, also the one that the wrong one voided", strings.Join(valid, " "),
		"19990 20000 20010 20350")
	wantEqual(t, "the vehicle", w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()["current_mileage_mi"], 20350.0)
}

// Everything that a return found is corrected after it: the bill, the books and the vehicle are in the end what
// they would be had it been typed right, also where the books are closed, a deposit was used, money was paid and a
// line was waived.
func TestAReturnIsCorrectedAfterIt(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 48, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	w.pass(72 * time.Hour)
	b := w.do("POST", path+"/return",
		`{"mileage_mi":1900,"fuel_pct":50,"inspection":{"items":[{"point":"tank","result":"fail"}]}}`).ok(200).object()
	wantEqual(t, "two days, two late, 500 miles, half a tank", minor(b["total"]), (2*5000.0+2*5000+500*50+50*100)*1.1)
	var fuel string
	for _, c := range b["charges"].([]any) {
		if line := c.(map[string]any); line["type"] == "refuel" {
			fuel = line["id"].(string)
		}
	}
	w.do("POST", path+"/charges/"+fuel+"/reverse", "").ok(201)
	w.do("POST", path+"/payments",
		fmt.Sprintf(`{"method":"card","amount":{"amount":%v,"currency":"USD"}}`, (2*5000.0+2*5000+500*50)*1.1)).ok(201)
	b = w.do("GET", path, "").ok(200).object()
	wantEqual(t, "paid, the fuel waived", b["payment_status"], "paid")
	w.do("POST", "/v1/ledger/close",
		fmt.Sprintf(`{"through":%q}`, w.api.Now().AddDate(0, 0, -2).Format(time.DateOnly))).ok(200)

	late := w.api.Now().Add(-24 * time.Hour).Format(time.RFC3339)
	body := fmt.Sprintf(`{"reason":"the wrong line of the sheet","return":{"at":%q,"mileage_mi":1350,"fuel_pct":90,"inspection":{"items":[{"point":"tank","result":"pass"}]}}}`, late)
	b = w.do("POST", path+"/correct", body, "Idempotency-Key", "once").ok(200).object()
	wantEqual(t, "repeated",
		w.do("POST", path+"/correct", body, "Idempotency-Key", "once").ok(200).object()["revision"], b["revision"])
	// One day late, 50 miles beyond 300; the fuel was waived, and that less of it is missing is no credit.
	wantEqual(t, "total", minor(b["total"]), (2*5000.0+5000+50*50)*1.1)
	wantEqual(t, "too much was paid", b["payment_status"], "overpaid")
	wantEqual(t, "driven", b["miles_driven"], 350.0)
	wantEqual(t, "in the books", w.owed(path), minor(b["balance_due"]))
	w.audited()
	inspections := b["inspections"].([]any)
	wantEqual(t, "the first inspection", inspections[0].(map[string]any)["superseded_by"],
		inspections[1].(map[string]any)["id"])
	w.wantAt("held until", b["blocked_until"], -23)
	was := map[string]any{}
	for _, c := range b["corrections"].([]any)[0].(map[string]any)["changes"].([]any) {
		was[c.(map[string]any)["what"].(string)] = c.(map[string]any)["was"]
	}
	wantEqual(t, "what stood there", fmt.Sprint(was["mileage_mi"], was["fuel_pct"], was["inspection_id"]),
		fmt.Sprint(1900.0, 50.0, inspections[0].(map[string]any)["id"]))
	v := w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()
	wantEqual(t, "the vehicle", fmt.Sprint(v["current_mileage_mi"], v["fuel_level_pct"]), "1350 90")

}

// Times are corrected as far as nobody else had the vehicle, and never take from a calendar what is somebody else's.
func TestCorrectedTimesTakeTheVehicleFromNobody(t *testing.T) {
	w := newLot(t)
	first := w.book(0.5, 24, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", first+"/pickup", `{"mileage_mi":1000}`).ok(200)
	w.pass(20 * time.Hour)
	w.do("POST", first+"/return", `{"mileage_mi":1100}`).ok(200)
	w.pass(2 * time.Hour)
	second := w.book(0.6, 24, `,"confirm":true`)
	w.pass(time.Hour)
	b := w.do("POST", second+"/pickup", `{"mileage_mi":1100}`).ok(200).object()
	w.pass(2 * time.Minute)

	at := func(hours float64) string {
		return fmt.Sprintf(`{"reason":"the clock","return":{"at":%q}}`, w.in(hours))
	}
	p := w.do("POST", first+"/correct", at(-0)).problem(409, "conflict") // a minute ago it was with the other
	if !strings.Contains(p.Detail, "was with booking B-1002 from ") {
		t.Errorf("the refusal: %s", p.Detail)
	}
	w.do("POST", first+"/correct", at(-30)).problem(422, "validation_failed") // before the pickup
	w.do("POST", first+"/correct", at(30)).problem(422, "validation_failed")  // not yet
	longer := w.do("POST", first+"/correct", at(-1)).ok(200).object()
	w.wantAt("returned", longer["actual_return_at"], -1)
	wantEqual(t, "held no longer than it is free", longer["blocked_until"], b["blocked_from"])
	wantEqual(t, "no conflict", longer["conflict"], false)
	pickup := fmt.Sprintf(`{"reason":"the clock","pickup":{"at":%q}}`, w.in(-2))
	w.do("POST", second+"/correct", pickup).problem(409, "conflict")
	w.do("POST", first+"/correct", at(-2.5)).ok(200)
	earlier := w.do("POST", second+"/correct", pickup).ok(200).object()
	shorter := w.do("GET", first, "").ok(200).object()
	wantEqual(t, "from where the other's buffer ends", earlier["blocked_from"], shorter["blocked_until"])
	w.wantAt("picked up", earlier["actual_pickup_at"], -2)
	doDuty(t, w, "bookings: overlaps")
	for _, b := range []string{first, second} {
		wantEqual(t, "overlaps "+b, w.do("GET", b, "").ok(200).object()["conflict"], false)
	}
}

// The swap of a vehicle during a rental is corrected: its time, and both odometers.
func TestASwapIsCorrected(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 48, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000}`).ok(200)
	w.pass(10 * time.Hour)
	first, second := w.car, w.newCar()
	w.do("POST", "/v1/vehicles/"+second+"/meter_readings", `{"kind":"odometer_mi","value":8000}`).ok(201)
	w.pass(time.Minute)
	swap := `{"vehicle_id":"` + second + `","mileage_mi":%d,"pickup_mileage_mi":%d%s}`
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(swap, 1090, 80001, "")).problem(409, "confirmation_required")
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(swap, 10900, 8001, "")).problem(409, "confirmation_required")
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(swap, 10900, 80001, `,"confirm":["mileage"]`)).ok(200)
	w.do("POST", path+"/correct", `{"reason":"x","swaps":[{"swap":1,"mileage_mi":1090}]}`).problem(422,
		"validation_failed")
	b := w.do("POST", path+"/correct",
		fmt.Sprintf(`{"reason":"digits","swaps":[{"swap":0,"at":%q,"mileage_mi":1090,"pickup_mileage_mi":8001}]}`,
			w.in(-2))).ok(200).object()
	w.wantAt("held from", b["blocked_from"], -2)
	w.wantAt("until", b["vehicle_history"].([]any)[0].(map[string]any)["until"], -2)
	w.pass(30 * time.Hour)
	b = w.do("POST", path+"/return", `{"mileage_mi":8201}`).ok(200).object()
	wantEqual(t, "driven with both", b["miles_driven"], 290.0)
	wantEqual(t, "90 miles beyond those included", minor(b["total"]), (2*5000.0+90*50)*1.1)
	for car, want := range map[string]string{first: "1090", second: "8201"} {
		wantEqual(t, "the odometer of "+car,
			fmt.Sprint(w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()["current_mileage_mi"]), want)
	}
	wantEqual(t, "warnings", fmt.Sprint(b["warnings"]), "[]")

	// Reopening takes back all that the return charged, corrected or not.
	b = w.do("POST", path+"/correct", `{"reason":"a digit","return":{"mileage_mi":8301}}`).ok(200).object()
	wantEqual(t, "190 miles beyond those included", minor(b["total"]), (2*5000.0+190*50)*1.1)
	b = w.do("POST", path+"/reopen", "").ok(200).object()
	wantEqual(t, "reopened", minor(b["total"]), 2*5000*1.1)
	w.do("POST", path+"/correct", `{"reason":"x","return":{"mileage_mi":8400}}`).problem(409, "conflict")
}

// Somebody books the same car for next month at the moment of the correction: the hold is there, the booking not yet.
func TestACorrectionBesideABookingThatIsBeingMade(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 48, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000}`).ok(200)
	w.pass(2 * time.Hour)
	car, err := fleet.ParseID(fleet.VehiclePrefix, w.car)
	if err != nil {
		t.Fatal(err)
	}
	at := w.api.Now().Add(30 * 24 * time.Hour)
	h := calendar.Hold{Ref: fleet.FormatID(fleet.BookingPrefix, w.api.Store.NextID()), From: record.InstantOf(at),
		Until: record.InstantOf(at.Add(time.Hour)), Bid: record.RandomID(), Rev: 1}
	if _, err := w.api.desk.Calendars.Take(t.Context(), record.Author{Actor: "test"}, w.account, car, h); err != nil {
		t.Fatal(err)
	}
	w.do("POST", path+"/correct", fmt.Sprintf(`{"reason":"x","pickup":{"at":%q}}`, w.in(-1))).ok(200)
}

// The first time that a car is handed over nothing was read off its odometer yet, and a zero too many is doubted all
// the same, by what it showed when it was acquired: at a pickup, and of the car that a customer gets on the road.
func TestAZeroTooManyIsDoubtedOfACarThatWasNeverRead(t *testing.T) {
	w := newLot(t)
	for _, car := range []string{w.car, w.newCar()} {
		w.do("PATCH", "/v1/vehicles/"+car, `{"acquisition_mileage_mi":20000}`).ok(200)
		if car != w.car {
			continue
		}
		path := w.book(1, 48, `,"confirm":true`)
		doubted := w.do("POST", path+"/pickup", `{"mileage_mi":200000}`).problem(409, "confirmation_required")
		if !strings.Contains(doubted.Detail, "180000 mi more than the 20000 mi that it showed when it was acquired") {
			t.Errorf("the doubt: %s", doubted.Detail)
		}
		w.do("POST", path+"/pickup", `{"mileage_mi":20000}`).ok(200)
	}
	other := w.newCar()
	w.do("PATCH", "/v1/vehicles/"+other, `{"acquisition_mileage_mi":40000,"acquired_on":"2026-01-01"}`).ok(200)
	path := "/v1/bookings/" + w.do("GET", "/v1/bookings", "").listed("id")
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(`{"vehicle_id":%q,"reason":"flat tyre","pickup_mileage_mi":400000}`,
		other)).problem(409, "confirmation_required")
	w.do("POST", path+"/swap_vehicle", fmt.Sprintf(
		`{"vehicle_id":%q,"reason":"flat tyre","pickup_mileage_mi":400000,"confirm":["mileage"]}`, other)).ok(200)
}
