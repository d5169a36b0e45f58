package api

import (
	"testing"
	"time"
)

// lineOf is the id of the first line of a type.
func lineOf(t *testing.T, booking map[string]any, kind string) string {
	t.Helper()
	for _, c := range booking["charges"].([]any) {
		if l := c.(map[string]any); l["type"] == kind {
			return l["id"].(string)
		}
	}
	t.Fatalf("no line of the type %s", kind)
	return ""
}

// The fuel of a return is waived. Then it is found out that the tank was full, which gives the customer no money; and
// when the return is taken back, the rental costs what was agreed, with its taxes.
func TestAWaivedLineIsNoCredit(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 48, `,"confirm":true`)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	w.pass(40 * time.Hour)
	b := w.do("POST", path+"/return", `{"mileage_mi":1100,"fuel_pct":50}`).ok(200).object()
	w.do("POST", path+"/charges/"+lineOf(t, b, "refuel")+"/reverse", "").ok(201)
	wantEqual(t, "waived", minor(w.do("GET", path, "").object()["total"]), 11000.0)
	b = w.do("POST", path+"/correct", `{"reason":"x","return":{"fuel_pct":100}}`).ok(200).object()
	wantEqual(t, "the tank was full: two days and nothing else", minor(b["total"]), 11000.0)
	b = w.do("POST", path+"/correct", `{"reason":"y","return":{"fuel_pct":30}}`).ok(200).object()
	wantEqual(t, "20 % more were missing than was waived", minor(b["total"]), 11000.0+2200)
	b = w.do("POST", path+"/reopen", "").ok(200).object()
	wantEqual(t, "reopened", minor(b["total"]), 11000.0)
	wantEqual(t, "taxes", minor(b["taxes_total"]), 1000.0)

	// With the tax of the return waived instead.
	b = w.do("POST", path+"/return", `{"mileage_mi":1100,"fuel_pct":50}`).ok(200).object()
	charges := b["charges"].([]any)
	tax := charges[len(charges)-1].(map[string]any)
	wantEqual(t, "the last line", tax["type"], "tax")
	w.do("POST", path+"/charges/"+tax["id"].(string)+"/reverse", "").ok(201)
	wantEqual(t, "without its tax", minor(w.do("GET", path, "").object()["total"]), 16000.0)
	b = w.do("POST", path+"/reopen", "").ok(200).object()
	wantEqual(t, "reopened, with the tax that was agreed", minor(b["total"]), 11000.0)
	w.audited()
	wantEqual(t, "in the books", w.owed(path), minor(b["balance_due"]))
}
