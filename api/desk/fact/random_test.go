package fact_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFactsOfRandomHistoriesAreThoseCountedSecondBySecond does things at random in three zones, of which each changes
// its clocks meanwhile, and has processes die while they make facts. Whatever happened, the facts are those of what
// stands; making them from nothing gives the same; and making them twice writes nothing.
func TestFactsOfRandomHistoriesAreThoseCountedSecondBySecond(t *testing.T) {
	for seed := range uint64(1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := open(t, zones[seed%3])
			w.rng = rand.New(rand.NewPCG(seed, 7))
			for _, zone := range zones {
				w.vehicle(zone, "2026-02-25")
			}
			w.vehicle("", "")
			w.look()
			w.flaky.rng = rand.New(rand.NewPCG(seed, 8))
			for w.now.Before(began.AddDate(0, 0, 41)) {
				for range 20 + w.rng.IntN(20) {
					w.step()
				}
				w.look()
				same(t, "after "+w.now.Format(time.DateTime), w.stored("vehicle_days", "local_date"), w.expected())
			}
			same(t, "days of rentals", w.storedRentals(), w.expectedRentals())
			if w.flaky.failed == 0 {
				t.Error("no process died")
			}
			w.flaky.rng = nil
			again(w)
		})
	}
}
