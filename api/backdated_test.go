package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// A booking of three weeks ago is a wrong month as often as a rental that is written down afterwards: whoever means it
// says so, and then no fee comes of it by itself.
func TestABookingInThePastIsOneThatSaysSo(t *testing.T) {
	w := newLot(t)
	const weeks = -21 * 24
	p := w.do("POST", "/v1/bookings", w.booking(weeks, weeks+48, `,"confirm":true`)).problem(422, "validation_failed")
	if e := p.Errors[0]; e.Pointer != "/pickup_at" || e.Code != "in_the_past" ||
		!strings.Contains(e.Detail, "21 days ago") || !strings.Contains(e.Detail, "backdated") {
		t.Errorf("refused with %+v", e)
	}
	path := w.book(weeks, weeks+48, `,"confirm":true,"backdated":true`)
	comes := func(after time.Duration) any {
		w.pass(after)
		doDuty(t, w, "bookings: nobody came")
		return w.do("GET", path, "").ok(200).object()["status"]
	}
	wantEqual(t, "written down afterwards, two days later", comes(48*time.Hour), "confirmed")
	w.do("POST", path+"/pickup", `{"at":"`+w.in(weeks-48)+`","mileage_mi":100}`).ok(200)
	done := w.do("POST", path+"/return", `{"at":"`+w.in(weeks)+`","mileage_mi":150}`).ok(200).object()
	wantEqual(t, "billed", minor(done["total"]), 11000.0)

	// Somebody at the counter books for half an hour ago, and has the whole grace of an hour from then on.
	w.car = w.newCar()
	path = w.book(-0.5, 24, `,"confirm":true`)
	wantEqual(t, "half an hour after it was made", comes(30*time.Minute), "confirmed")
	wantEqual(t, "an hour after", comes(31*time.Minute), "no_show")

	// What waited until its time was over is not confirmed without a word, and what is moved into the past is said to be.
	path = w.book(1, 24, `,"hold_minutes":1000`)
	w.pass(3 * time.Hour)
	if text := w.do("POST", path+"/confirm", "").refused(); !strings.Contains(text, "backdated") {
		t.Errorf("confirmed late: %q", text)
	}
	w.do("PATCH", path, `{"pickup_at":"`+w.in(-30)+`"}`).problem(422, "validation_failed")
	w.do("PATCH", path, `{"pickup_at":"`+w.in(-30)+`","backdated":true}`).ok(200)
	w.do("POST", path+"/confirm", "").ok(200)
	moved := w.do("PATCH", path, `{"pickup_at":"`+w.in(5)+`"}`).ok(200).object()
	wantEqual(t, "backdated, moved to come", moved["backdated"], false)
	w.do("POST", path+"/duplicate", `{"pickup_at":"`+w.in(-90)+`","return_at":"`+w.in(-80)+`"}`).problem(422,
		"validation_failed")
	w.do("POST", path+"/duplicate", `{"pickup_at":"`+w.in(-90)+`","return_at":"`+w.in(-80)+`","backdated":true}`).ok(201)
	wantEqual(t, "nobody came after all", comes(7*time.Hour), "no_show")
}

// Last week's rentals are written down when their vehicle has been rented since, and while it is out: each holds it for
// its own time, and the vehicle stays where later events have brought it.
func TestARentalIsWrittenDownThoughItsVehicleHasGoneOn(t *testing.T) {
	w := newLot(t)
	const day = 24.0
	elsewhere := made(w, w.api.desk.Locations, record.Location{Name: "Downtown", Timezone: "America/Chicago"})
	since := w.book(-5*day, -4*day, `,"confirm":true,"backdated":true,"return_location_id":"`+elsewhere+`"`)
	w.do("POST", since+"/pickup", `{"at":"`+w.in(-5*day)+`","mileage_mi":1000,"fuel_pct":80}`).ok(200)
	w.do("POST", since+"/return", `{"at":"`+w.in(-4*day)+`","mileage_mi":1100,"fuel_pct":70}`).ok(200)
	out := w.book(0, 2*day, `,"confirm":true,"elsewhere":true`)
	w.do("POST", out+"/pickup", `{"mileage_mi":1200,"fuel_pct":60}`).ok(200)
	car := func() string {
		v := w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()
		return fmt.Sprint(v["status"], v["current_location_id"], v["fuel_level_pct"], v["current_mileage_mi"])
	}
	before := car()
	if !strings.HasPrefix(before, "rented") || !strings.Contains(before, elsewhere) {
		t.Fatalf("the car is %s", before)
	}

	// What its vehicle was taken for by others stays theirs.
	w.do("POST", "/v1/bookings", w.booking(-5.5*day, -4.5*day, `,"confirm":true,"backdated":true`)).refused()
	w.do("POST", "/v1/bookings", w.booking(-1*day, 0.5*day, `,"confirm":true,"backdated":true`)).refused()

	past := w.book(-8*day, -6*day, `,"confirm":true,"backdated":true`)
	if p := w.do("POST", past+"/pickup", `{}`).problem(422, "validation_failed"); len(p.Errors) != 1 ||
		!strings.Contains(p.Errors[0].Detail, "give when the vehicle was picked up") {
		t.Errorf("picked up without at: %+v", p)
	}
	w.do("POST", past+"/pickup", `{"at":"`+w.in(-8*day)+`","mileage_mi":500,"fuel_pct":90}`).ok(200)
	wantEqual(t, "the car while the past is written down", car(), before)

	// It is not overdue while its return is typed, and is when nobody has typed it for long.
	noted := func() any {
		doDuty(t, w, "bookings: overdue")
		return strings.Contains(fmt.Sprint(w.do("GET", past+"/timeline", "").data()), "Overdue.")
	}
	wantEqual(t, "overdue at once", noted(), false)
	// Another rental between the two, and no other may take what this one has.
	between := w.book(-5.9*day, -5.3*day, `,"confirm":true,"backdated":true`)
	w.do("POST", between+"/pickup", `{"at":"`+w.in(-5.9*day)+`","mileage_mi":700}`).ok(200)
	w.do("POST", between+"/return", `{"at":"`+w.in(-5.3*day)+`","mileage_mi":800}`).ok(200)
	w.do("POST", "/v1/bookings", w.booking(-7*day, -6.5*day, `,"confirm":true,"backdated":true`)).refused()
	if text := w.do("POST", past+"/swap_vehicle",
		`{"vehicle_id":"`+w.newCar()+`"}`).refused(); !strings.Contains(text, "Return it") {
		t.Errorf("swapped: %s", text)
	}
	w.do("POST", past+"/extend", `{"return_at":"`+w.in(1*day)+`"}`).refused()
	w.do("POST", past+"/return", `{"mileage_mi":600}`).problem(422, "validation_failed")
	w.pass(2 * time.Hour)
	wantEqual(t, "overdue two hours later", noted(), true)
	done := w.do("POST", past+"/return", `{"at":"`+w.in(-6*day-2)+`","mileage_mi":600,"fuel_pct":90}`).ok(200).object()
	wantEqual(t, "billed", minor(done["total"]), 11000.0)
	wantEqual(t, "the car after the past was written down", car(), before)

	// And the one that is out comes back as it would have.
	w.do("POST", out+"/return", `{"mileage_mi":1250,"fuel_pct":50}`).ok(200)
	if is := car(); !strings.HasPrefix(is, "turnaround") {
		t.Errorf("the car is %s after all", is)
	}
}

// Two rentals do not have one car at the same time, in whichever order their handovers are written down: the one that
// comes second is refused, and told of the other.
func TestHandoversWrittenDownAfterwardsDoNotOverlap(t *testing.T) {
	w := newLot(t)
	const day = 24.0
	handover := func(at float64, miles int) string { return fmt.Sprintf(`{"at":%q,"mileage_mi":%d}`, w.in(at), miles) }
	refused := func(path, body, other string) {
		t.Helper()
		if p := w.do("POST", path, body).problem(409, "conflict"); !strings.Contains(p.Detail,
			"was with booking "+other+" from ") {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
	first := w.book(-10*day, -8*day, `,"confirm":true,"backdated":true`)
	w.do("POST", first+"/pickup", handover(-10*day, 100)).ok(200)
	second := w.book(-7*day, -5*day, `,"confirm":true,"backdated":true`)
	w.do("POST", second+"/pickup", handover(-7*day, 300)).ok(200)
	w.do("POST", second+"/return", handover(-5*day, 400)).ok(200)
	refused(first+"/return", handover(-6*day, 200), "B-1002")
	refused(first+"/return", handover(-1*day, 200), "B-1002")
	w.do("POST", first+"/return", handover(-7*day-0.01, 200)).ok(200)
	refused(first+"/correct", `{"reason":"x","return":{"at":"`+w.in(-6.9*day)+`"}}`, "B-1002")

	// One that came back late, after its successor says to have driven off.
	third := w.book(-4*day, -3*day, `,"confirm":true,"backdated":true`)
	w.do("POST", third+"/pickup", handover(-4*day, 400)).ok(200)
	fourth := w.book(-2.9*day, -1*day, `,"confirm":true,"backdated":true`)
	w.do("POST", third+"/return", handover(-2.5*day, 500)).ok(200)
	refused(fourth+"/pickup", handover(-2.7*day, 500), "B-1003")
	w.do("POST", fourth+"/pickup", handover(-2.5*day, 500)).ok(200)
	for _, b := range []string{first, second, third, fourth} {
		wantEqual(t, "conflict", w.do("GET", b, "").ok(200).object()["conflict"], false)
	}
}

// A rental that was written down by mistake is cancelled at no cost; what was booked to come costs its fee.
func TestCancellingWhatWasWrittenDownAfterwardsCostsNothing(t *testing.T) {
	w := newLot(t)
	done := w.do("POST", w.book(-50, -26, `,"confirm":true,"backdated":true`)+"/cancel", `{}`).ok(200).object()
	wantEqual(t, "cancelled afterwards", minor(done["total"]), 0.0)
	wantEqual(t, "its fee", done["cancellation"].(map[string]any)["fee"], nil)
	done = w.do("POST", w.book(2, 26, `,"confirm":true`)+"/cancel", `{}`).ok(200).object()
	if minor(done["cancellation"].(map[string]any)["fee"]) == 0 {
		t.Errorf("cancelled late at no fee: %v", done["cancellation"])
	}
	done = w.do("POST", w.book(-50, -26, `,"confirm":true,"backdated":true`)+"/no_show", `{}`).ok(200).object()
	if minor(done["cancellation"].(map[string]any)["fee"]) == 0 {
		t.Errorf("said to have failed to come, at no fee: %v", done["cancellation"])
	}
}
