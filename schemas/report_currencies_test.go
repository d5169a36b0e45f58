package schemas_test

import "testing"

// Vehicle 1 was rented for two days in dollars, 100.00, and for three in euros, 240.00; a repair cost 30.00 dollars.
// What is divided by days or hours of rentals is of those in the currency that is asked about, in whatever way it is
// found: by the facts of vehicles, or by the days of rentals; the time that was sold is that of all.
func TestMoneyOfOneCurrencyIsDividedByItsOwnDays(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	put(t, db, `INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, fleet_s, rented_s, billed_days, revenue_time, cost_maintenance) VALUES
		(7, '2026-03-02', 1, 'USD', '2026-04-09 00:00:00', 86400, 36000, 2, 10000, 3000),
		(7, '2026-03-02', 1, 'EUR', '2026-04-09 00:00:00', 0, 7200, 3, 24000, 0)`,
		`INSERT INTO rental_days (account, local_date, booking, computed_at, vehicle, channel, currency, rented_s, billed_days) VALUES
		(7, '2026-03-02', 101, '2026-04-09 00:00:00', 1, 'direct', 'USD', 36000, 2), (7, '2026-03-02', 102, '2026-04-09 00:00:00', 1, 'direct', 'EUR', 7200, 3)`,
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, vehicle, channel) VALUES
		(7, '2026-03-02', 'revenue.time', 1, 1, 1, -10000, 'USD', 'booking', 1, 'direct'),
		(7, '2026-03-02', 'revenue.time', 2, 1, 2, -24000, 'EUR', 'booking', 1, 'direct'),
		(7, '2026-03-02', 'cost.repair', 3, 1, 3, 3000, 'USD', 'expense', 1, 'direct')`)
	for currency, days := range map[string]string{"USD": "billed_days 2, rented_s 36000",
		"EUR": "billed_days 3, rented_s 7200"} {
		for _, group := range []string{"total", "day", "vehicle", "channel"} {
			key := map[string]string{"day": "2026-03-02", "vehicle": "1", "channel": "direct"}[group]
			revenue := ask(t, db, "revenue", group, "by", group, "to", "2026-03-30", "currency", currency)
			want(t, revenue, key, days)
			profit := ask(t, db, "profitability", group, "by", group, "to", "2026-03-30", "currency", currency)
			want(t, profit, key, days[:len("billed_days 2")])
		}
		want(t, ask(t, db, "utilization", "total", "to", "2026-03-30", "currency", currency), "",
			"billed_days 5, rented_s 43200, fleet_s 86400")
		bridge := ask(t, db, "revenue_bridge", "total", "to", "2026-03-30", "currency", currency,
			"before_from", "2026-02-01", "before_to", "2026-02-28")
		want(t, bridge, "", days[len("billed_days 2, "):]+", rentable_s 86400")
	}
}

// Two customers rented in March, one of them in euros alone: in dollars the other one is all that there is to divide
// by. Of what the books know nothing the sum is not known, and what came to nothing is 0.
func TestALifetimeValueIsThatOfCustomersInTheCurrency(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	for id, more := range map[int]string{101: `"currency":"USD","customer_id":"cus_31"`,
		102: `"currency":"EUR","customer_id":"cus_32"`} {
		record(t, db, "bookings", 7, id, "2026-02-01 00:00:00", `{"status":"completed","vehicle_id":"veh_1","actual_pickup_at":"2026-03-01T10:00:00Z",
			"actual_return_at":"2026-03-03T10:00:00Z","charges":[{"type":"time","quantity":1,"amount":{"amount":9000}}],`+more+`}`)
	}
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, customer) VALUES
		(7, '2026-03-02', 'revenue.time', 1, 1, 1, -9000, 'USD', 'booking', 31),
		(7, '2026-03-02', 'revenue.time', 2, 1, 2, -9000, 'EUR', 'booking', 32),
		(7, '2026-03-02', 'revenue.time', 3, 1, 3, -9000, 'GBP', 'booking', 32),
		(7, '2026-03-03', 'revenue.time', 4, 1, 4, 9000, 'GBP', 'booking', 32)`)
	want(t, ask(t, db, "customers", "total"), "", "customers 2, paying_customers 1, lifetime_net 9000, billed 9000")
	want(t, ask(t, db, "customers", "total", "currency", "EUR"), "", "customers 2, paying_customers 1, lifetime_net 9000")
	want(t, ask(t, db, "customers", "total", "currency", "GBP"), "", "customers 2, paying_customers 1, lifetime_net 0")
	want(t, ask(t, db, "customers", "total", "currency", "JPY"), "", "customers 2, paying_customers 0, lifetime_net null")
	want(t, ask(t, db, "customers", "customer"), "32", "customers 1, paying_customers 0, lifetime_net null")
}
