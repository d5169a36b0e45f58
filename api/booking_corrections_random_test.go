//go:build long

package api

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/books"
)

// mistyped is a handover as it was, and what a clerk may type instead.
type mistyped struct {
	at          time.Duration // after the agreed pickup or return
	miles, fuel int
}

func (m *mistyped) body(agreed time.Time, confirm string) string {
	return fmt.Sprintf(`"at":%q,"mileage_mi":%d,"fuel_pct":%d%s`, agreed.Add(m.at).UTC().Format(time.RFC3339), m.miles,
		m.fuel, confirm)
}

// However often a rental is typed wrongly and corrected, in the end it costs what its twin costs that was typed right,
// and the books agree with what is worked out again from the records.
func TestRandomCorrectionsEndAsIfTypedRight(t *testing.T) {
	w := newLot(t)
	w.pass(-2000 * time.Hour) // so that all is long past for those who check the books
	rng := rand.New(rand.NewPCG(16, 3))
	hours := func(least, most int) time.Duration { return time.Duration(least+rng.IntN(most-least)) * time.Hour }
	for round := range 3 {
		cars := [2]string{w.newCar(), w.newCar()}
		from := w.api.Now().Add(100 * time.Hour).Truncate(time.Minute)
		until := from.Add(50 * time.Hour)
		var paths [2]string
		for i, car := range cars {
			w.car = car
			paths[i] = w.book(from.Sub(w.api.Now()).Hours(), until.Sub(w.api.Now()).Hours(), `,"confirm":true`)
		}
		w.pass(300 * time.Hour)
		pickup := func() mistyped { return mistyped{hours(-60, 10), rng.IntN(2000), 50 + rng.IntN(50)} }
		back := func() mistyped { return mistyped{hours(-30, 60), 2000 + rng.IntN(2000), rng.IntN(100)} }
		rightly, returned := pickup(), back()
		typed := func(path string, p, r mistyped) map[string]any {
			w.do("POST", path+"/pickup", "{"+p.body(from, `,"confirm":["mileage"]`)+"}").ok(200)
			return w.do("POST", path+"/return", "{"+r.body(until, `,"confirm":["mileage"]`)+"}").ok(200).object()
		}
		right := typed(paths[1], rightly, returned)
		wrong := typed(paths[0], pickup(), back())
		for n := range 4 {
			p, r := pickup(), back()
			if n == 3 {
				p, r = rightly, returned
			}
			body := fmt.Sprintf(`{"reason":"again","confirm":["mileage"],"pickup":{%s},"return":{%s}}`, p.body(from, ""),
				r.body(until, ""))
			wrong = w.do("POST", paths[0]+"/correct", body).ok(200).object()
			wantEqual(t, "the books", w.owed(paths[0]), minor(wrong["balance_due"]))
		}
		for _, member := range []string{"total", "taxes_total", "subtotal", "miles_driven", "billed_days", "blocked_from",
			"blocked_until"} {
			wantEqual(t, fmt.Sprint("round ", round, ": ", member), fmt.Sprint(wrong[member]), fmt.Sprint(right[member]))
		}
		wantEqual(t, "the odometer", w.do("GET", "/v1/vehicles/"+cars[0], "").ok(200).object()["current_mileage_mi"],
			w.do("GET", "/v1/vehicles/"+cars[1], "").ok(200).object()["current_mileage_mi"])
	}
	w.audited()
	if looked, faults, err := books.CheckBooks(t.Context(), w.api.DB, 1000); err != nil || looked == 0 ||
		len(faults) != 0 {
		t.Errorf("checked %d: %v, %v", looked, faults, err)
	}
}
