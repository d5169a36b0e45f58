package api

import (
	"strings"
	"testing"
	"time"
)

// A booking of three weeks ago is a wrong month as often as a rental that is written down afterwards: whoever means it says so, and then no
// fee comes of it by itself.
func TestABookingInThePastIsOneThatSaysSo(t *testing.T) {
	w := newLot(t)
	const weeks = -21 * 24
	p := w.do("POST", "/v1/bookings", w.booking(weeks, weeks+48, `,"confirm":true`)).problem(422, "validation_failed")
	if e := p.Errors[0]; e.Pointer != "/pickup_at" || e.Code != "in_the_past" || !strings.Contains(e.Detail, "21 days ago") || !strings.Contains(e.Detail, "backdated") {
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
	wantEqual(t, "backdated, moved to come", moved["backdated"], nil)
	w.do("POST", path+"/duplicate", `{"pickup_at":"`+w.in(-90)+`","return_at":"`+w.in(-80)+`"}`).problem(422, "validation_failed")
	w.do("POST", path+"/duplicate", `{"pickup_at":"`+w.in(-90)+`","return_at":"`+w.in(-80)+`","backdated":true}`).ok(201)
	wantEqual(t, "nobody came after all", comes(7*time.Hour), "no_show")
}
