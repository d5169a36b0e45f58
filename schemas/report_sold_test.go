package schemas_test

import "testing"

// Car 1 was bought for 20,000.00 and brought 6,000.00 in cash; in March 2026 it was sold for 15,000.00, when the books
// said 14,000.00: it paid for itself by that, and made 1,000.00. Car 2 was bought for the same, brought as much and
// went for 5,000.00, which is a loss for good. Car 3 stays: 10,000.00 less 1,000.00 of depreciation, and 3,000.00 in
// cash, 300.00 a month of late. Car 4 was scrapped in 2024 and brought nothing.
func TestTheReturnOfASoldCarIsFinal(t *testing.T) {
	db := openReports(t)
	car := func(id int, cost, more string) {
		record(t, db, "vehicles", 7, id, "2024-01-01 00:00:00",
			`{"acquisition_cost":{"amount":`+cost+`,"currency":"USD"},"acquired_on":"2024-01-01"`+more+`}`)
	}
	car(1, "2000000", `,"disposal_on":"2026-03-10","disposal_price":{"amount":1500000,"currency":"USD"}`)
	car(2, "2000000", `,"disposal_on":"2026-03-10","disposal_price":{"amount":500000,"currency":"USD"}`)
	car(3, "1000000", `,"disposal_on":"2026-07-01","disposal_price":{"amount":900000,"currency":"USD"}`) // not yet
	car(4, "400000", `,"disposal_on":"2024-03-10"`)
	put(t, db, `INSERT INTO vehicle_months (account, month, vehicle, currency, computed_at, revenue_time, cost_maintenance, cost_depreciation) VALUES
		(7, '2024-01-01', 1, 'USD', now64(3), 500000, 100000, 300000), (7, '2026-01-01', 1, 'USD', now64(3), 200000, 0, 300000),
		(7, '2026-03-01', 1, 'USD', now64(3), 0, 0, -100000),
		(7, '2024-01-01', 2, 'USD', now64(3), 500000, 100000, 300000), (7, '2026-03-01', 2, 'USD', now64(3), 200000, 0, 1200000),
		(7, '2024-01-01', 3, 'USD', now64(3), 210000, 0, 60000), (7, '2026-04-01', 3, 'USD', now64(3), 90000, 0, 40000),
		(7, '2024-02-01', 4, 'USD', now64(3), 100000, 0, 0)`)
	june := []string{"from", "2026-06-01", "to", "2026-06-30"}
	cars := ask(t, db, "fleet_roi", "vehicle", june...)
	want(t, cars, "1", `acquisition_cost 2000000, net_cash 600000, sold_for 1500000, current_value 0, gain 100000, remaining 0, recent_cash null,
		payback_months 27, payback_month 20513, capital_12 1700000, profit_12 0`)
	want(t, cars, "2", "net_cash 600000, sold_for 500000, current_value 0, gain -900000, remaining 900000, recent_cash null, payback_months null")
	want(t, cars, "3", "sold_for 0, current_value 900000, gain 200000, remaining 700000, recent_cash 90000, capital_12 1840000")
	want(t, cars, "4", `net_cash 100000, sold_for 0, current_value 0, gain -300000, recent_cash null, acquisition_12 0, capital_12 0, profit_12 0`)
	want(t, ask(t, db, "fleet_roi", "total", june...), "", `acquisition_cost 5400000, net_cash 1600000, sold_for 2000000, current_value 900000,
		gain -900000, remaining 1800000, recent_cash 90000, acquisition_12 5000000`)
	// Before it was sold it was as any other.
	want(t, ask(t, db, "fleet_roi", "vehicle", "from", "2026-01-01", "to", "2026-01-31"), "1",
		"sold_for 0, current_value 1400000, gain 0, remaining 1400000, recent_cash 200000, payback_months null")
	// Of the month in which it was sold the days count until the last one, and the sale once it has come.
	put(t, db, `INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, revenue_time, cost_depreciation) VALUES
		(7, '2026-03-05', 1, 'USD', now64(3), 5000, 0), (7, '2026-03-10', 1, 'USD', now64(3), 0, -100000)`)
	want(t, ask(t, db, "fleet_roi", "vehicle", "from", "2026-03-01", "to", "2026-03-09"), "1",
		"net_cash 605000, sold_for 0, current_value 1400000, gain 5000, recent_cash 205000, revenue_12 205000")
	want(t, ask(t, db, "fleet_roi", "vehicle", "from", "2026-03-01", "to", "2026-03-10"), "1",
		"net_cash 605000, sold_for 1500000, current_value 0, gain 105000, recent_cash null, payback_month 20513")
}
