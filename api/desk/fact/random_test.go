package fact_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFactsOfRandomHistoriesAreThoseCountedSecondBySecond looks at a random history now and then. The long tests look
// at more of them, and more often.
func TestFactsOfRandomHistoriesAreThoseCountedSecondBySecond(t *testing.T) { randomHistory(t, 0, 80) }

// randomHistory does things at random in three zones, of which each changes its clocks meanwhile, and has processes die
// while they make facts, which is after so many things or up to twice as many. Whatever happened, the facts are those
// of what stands; making them from nothing, also in small batches, gives the same; and making them twice writes
// nothing.
func randomHistory(t *testing.T, seed uint64, things int) {
	w := open(t, zones[seed%3])
	w.rng = rand.New(rand.NewPCG(seed, 7))
	for _, zone := range zones {
		w.vehicle(zone, "2026-02-25")
	}
	w.vehicle("", "")
	w.look()
	w.flaky.rng = rand.New(rand.NewPCG(seed, 8))
	for w.now.Before(began.AddDate(0, 0, 41)) {
		for range things + w.rng.IntN(things) {
			w.step()
		}
		w.look()
		same(t, "after "+w.now.Format(time.DateTime), w.stored("vehicle_days", "local_date"), w.expected())
		w.monthsHaveTheirDays()
	}
	same(t, "days of rentals", w.storedRentals(), w.expectedRentals())
	if w.flaky.failed == 0 {
		t.Error("no process died")
	}
	w.flaky.rng = nil
	again(w)
	const most = 7
	w.facts.InBatchesOf(most, 12)
	w.flaky.batches = 0
	again(w)
	if times := 2; w.flaky.batches <= times*(len(w.bookings)/most+1) {
		t.Errorf("%d bookings are made %d times in %d batches: none was halved", len(w.bookings), times, w.flaky.batches)
	}
}

// monthsHaveTheirDays holds the days that months keep against vehicle_days.
func (w *world) monthsHaveTheirDays() {
	w.t.Helper()
	const kept = `SELECT vehicle, currency, addDays(month, n) AS day, rented, rentable, billed, sold, running
		FROM vehicle_months FINAL
		ARRAY JOIN range(31) AS n, rented_by_day AS rented, rentable_by_day AS rentable, billed_by_day AS billed,
			sold_by_day AS sold, running_by_day AS running
		WHERE bitTest(days_known, n)`
	const days = `SELECT vehicle, currency, local_date AS day, rented_s, toInt64(fleet_s) - toInt64(down_s), billed_days,
			revenue_time + revenue_mileage + discounts, variable_cost + platform_fees
		FROM vehicle_days FINAL`
	var n, more, less uint64
	if err := w.db.QueryRow(w.t.Context(), fmt.Sprintf(`SELECT (SELECT count() FROM (%[1]s)),
		(SELECT count() FROM (%[1]s EXCEPT %[2]s)), (SELECT count() FROM (%[2]s EXCEPT %[1]s))`, kept, days)).
		Scan(&n, &more, &less); err != nil {
		w.t.Fatal(err)
	}
	if n == 0 || more+less > 0 {
		w.t.Fatalf("of %d days that months keep %d are not as they are, and %d lack", n, more, less)
	}
}

// fleetDays is how many days a fleet has, by currency, and how many of them are not the sums of its vehicles.
type fleetDays struct{ all, not uint64 }

// fleetDays holds fleet_days against vehicle_days.
func (w *world) fleetDays() (f fleetDays) {
	w.t.Helper()
	const measures = `toInt64(day_s), toInt64(fleet_s), toInt64(down_s), toInt64(rented_s), toInt64(idle_s), toInt64(billed_days),
		toInt64(round(driven_m * 1000)), toInt64(round(rented_m * 1000)), toInt64(round(fuel_l * 1000)),
		toInt64(round(energy_kwh * 1000)), toInt64(driven_days), toInt64(round(fuelled_m * 1000)), toInt64(round(electric_m * 1000)),
		toInt64(round(electric_kwh * 1000)), revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance,
		cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed`
	if err := w.db.QueryRow(w.t.Context(), `SELECT countIf(summed), countIf(lacks) FROM (
		SELECT account, local_date, currency, max(n) = 1 AS summed,
			NOT summed OR sumForEachIf(amounts, n = 0) != sumForEachIf(amounts, n = 1) AS lacks
		FROM (
			SELECT account, local_date, currency, 0 AS n, [`+measures+`] AS amounts
			FROM (SELECT *, driven_m > 0 AS driven_days, if(fuel_l > 0, driven_m, 0.) AS fuelled_m,
				if(vehicle IN (SELECT id FROM vehicles FINAL WHERE fuel_type = 'electric'), driven_m, 0.) AS electric_m,
				if(vehicle IN (SELECT id FROM vehicles FINAL WHERE fuel_type = 'electric'), energy_kwh, 0.) AS electric_kwh
				FROM vehicle_days FINAL)
			UNION ALL
			SELECT account, local_date, currency, 1, [`+measures+`] FROM fleet_days FINAL)
		GROUP BY account, local_date, currency)`).Scan(&f.all, &f.not); err != nil {
		w.t.Fatal(err)
	}
	return f
}
