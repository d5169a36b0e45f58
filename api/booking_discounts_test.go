package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A rental of two days costs 100.00 and 10 % tax. A clerk gives 25.00 off, and writes it as people do, without a
// minus: 82.50 are owed, as with a promotion. A discount goes with the rental that it was given on, and only a
// discount or an adjustment lowers what is owed.
func TestADiscountLowersWhateverItsSign(t *testing.T) {
	w := newLot(t)
	path := w.book(48, 96, `,"confirm":true`)
	charge := func(kind string, amount int, more string) *reply {
		body := fmt.Sprintf(`{"type":%q,"unit_price":{"amount":%d,"currency":"USD"}%s}`, kind, amount, more)
		return w.do("POST", path+"/charges", body)
	}
	off := func(amount int, more string) *reply { return charge("discount", amount, more) }
	owed := func(what string, total, discounts, taxes float64) {
		t.Helper()
		b := w.do("GET", path, "").object()
		sums := map[string]float64{"total": total, "discounts_total": discounts, "taxes_total": taxes, "balance_due": total}
		for member, want := range sums {
			wantEqual(t, what+": "+member, minor(b[member]), want)
		}
	}
	owed("as booked", 11000, 0, 1000)
	given := off(2500, "").ok(201)
	wantEqual(t, "as it is posted", minor(given.member("unit_price")), -2500.0)
	owed("25.00 off", 8250, -2500, 750)
	off(-2500, "").ok(201)
	owed("with a minus", 5500, -5000, 500)
	off(500, `,"taxable":false`).ok(201)
	owed("after taxes", 5000, -5500, 500)
	wantEqual(t, "more than there is", off(4501, "").faults(), "/unit_price/amount")
	for _, kind := range []string{"toll", "damage", "cleaning", "time"} {
		wantEqual(t, "a negative "+kind, charge(kind, -100, "").faults(), "/unit_price/amount")
	}
	dent := `{"description":"a dent","severity":"minor","estimate":{"amount":-1,"currency":"USD"}}`
	wantEqual(t, "a damage that costs less than nothing", w.do("POST", path+"/damages", dent).faults(), "/estimate/amount")
	w.do("POST", path+"/charges/"+given.id()+"/reverse", "").ok(201)
	owed("one taken back", 7750, -3000, 750)

	// What a discount was given on does not go from under it.
	more := off(4000, "").ok(201).id()
	days := fmt.Sprint(w.do("GET", path+"/charges", "").data()[0]["id"])
	for what, answer := range map[string]*reply{
		"the days reversed": w.do("POST", path+"/charges/"+days+"/reverse", ""),
		"a day less":        w.do("POST", path+"/extend", fmt.Sprintf(`{"return_at":%q}`, w.in(72))),
		"a day less, anew":  w.do("PATCH", path, fmt.Sprintf(`{"return_at":%q}`, w.in(72))),
	} {
		if text := answer.refused(); !strings.Contains(text, "Reverse one of them first") {
			t.Errorf("%s: %q", what, text)
		}
	}
	w.do("POST", path+"/charges/"+more+"/reverse", "").ok(201)

	// The price of three days: the discounts that stand lower it as they lowered the other.
	w.do("PATCH", path, fmt.Sprintf(`{"return_at":%q}`, w.in(120))).ok(200)
	owed("a day more", 13250, -3000, 1250)
	charge("cleaning", 1000, `,"taxable":true`).ok(201)
	w.do("POST", path+"/cancel", "").ok(200)
	owed("cancelled in time, but for what was charged by hand", 1100, 0, 100)
}

// A discount of 400.00 is given on a rental that was driven too far. Neither that the odometer is corrected nor that
// the return is taken back takes the miles from under it: it is reversed first.
func TestADiscountKeepsWhatItWasGivenOn(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 48, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	w.pass(40 * time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":2000,"fuel_pct":100}`).ok(200)
	off := w.do("POST", path+"/charges", `{"type":"discount","unit_price":{"amount":40000,"currency":"USD"}}`).ok(201).id()
	correct := func() *reply { return w.do("POST", path+"/correct", `{"reason":"x","return":{"mileage_mi":1100}}`) }
	for what, answer := range map[string]*reply{"corrected": correct(), "reopened": w.do("POST", path+"/reopen", "")} {
		if text := answer.refused(); !strings.Contains(text, "Reverse one of them first") {
			t.Errorf("%s: %q", what, text)
		}
	}
	w.do("POST", path+"/charges/"+off+"/reverse", "").ok(201)
	wantEqual(t, "corrected then", minor(correct().ok(200).member("total")), 11000.0)
}
