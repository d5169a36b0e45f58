package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// refuelled is the percent of a tank that a booking was charged for.
func (w *lotWorld) refuelled(path string) float64 {
	w.t.Helper()
	sum := 0.0
	for _, c := range w.do("GET", path+"/charges", "").ok(200).data() {
		if c["type"] == "refuel" {
			sum += minor(c["amount"]) / 100
		}
	}
	return sum
}

// After a swap during the rental each vehicle is charged for what is missing of its own tank. Where a level was noted
// at one end only nothing is charged, and whoever reads the booking is told.
func TestFuelIsOfTheCarItWasTakenWith(t *testing.T) {
	w := newLot(t)
	told := func(b map[string]any) string { return fmt.Sprint(b["warnings"]) }
	drive := func(pickup, swap, back string) (string, map[string]any) {
		t.Helper()
		first, second := w.newCar(), w.newCar()
		w.car = first
		path := w.book(1, 48, `,"confirm":true`)
		w.pass(time.Hour)
		w.do("POST", path+"/pickup", `{"mileage_mi":1000`+pickup+`}`).ok(200)
		w.pass(10 * time.Hour)
		w.do("POST", path+"/swap_vehicle",
			`{"vehicle_id":"`+second+`","mileage_mi":1010,"pickup_mileage_mi":2000`+swap+`}`).ok(200)
		w.pass(10 * time.Hour)
		return path, w.do("POST", path+"/return", `{"mileage_mi":2010`+back+`}`).ok(200).object()
	}
	path, b := drive(`,"fuel_pct":90`, `,"fuel_pct":85,"pickup_fuel_pct":60`, `,"fuel_pct":50`)
	wantEqual(t, "5 of the first and 10 of the second", w.refuelled(path), 15.0)
	wantEqual(t, "nothing to say", told(b), "[]")
	for car, want := range map[string]any{w.car: 85.0, b["vehicle_id"].(string): 50.0} {
		wantEqual(t, "the tank of "+car, w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()["fuel_level_pct"], want)
	}
	w.do("POST", path+"/correct", `{"reason":"misread","swaps":[{"swap":0,"fuel_pct":80,"pickup_fuel_pct":70}]}`).ok(200)
	wantEqual(t, "corrected", w.refuelled(path), 30.0)
	wantEqual(t, "at the pickup too", w.do("POST", path+"/correct",
		`{"reason":"misread","pickup":{"fuel_pct":100}}`).ok(200).object()["pickup_fuel_pct"], 70.0)
	wantEqual(t, "of the first car", w.refuelled(path), 40.0)

	path, b = drive(`,"fuel_pct":90`, "", `,"fuel_pct":50`)
	wantEqual(t, "without levels at the swap", w.refuelled(path), 0.0)
	if text := told(b); strings.Count(text, "no fuel level of ") != 2 ||
		!strings.Contains(text, "when it was given back") || !strings.Contains(text, "when it was driven off with") {
		t.Errorf("warnings %s", text)
	}
	path, b = drive(`,"fuel_pct":90`, `,"fuel_pct":90,"pickup_fuel_pct":60`, "")
	wantEqual(t, "without one at the return", w.refuelled(path), 0.0)
	if text := told(b); strings.Count(text, "no fuel level of ") != 1 ||
		!strings.Contains(text, "when it was given back") {
		t.Errorf("warnings %s", text)
	}
}
