package schemas_test

import (
	"strconv"
	"testing"
)

// Bookings made in March in Chicago, which is at UTC-6 and from 8 March, 2:00, at UTC-5:
//
//	1: on the 1st at 05:30 UTC, which is 28 February: not among them
//	2: on the 8th at 05:30 UTC, the 7th there; picked up half a day later
//	3: on the 9th at 04:30 UTC, the 8th there; two days ahead; cancelled by the customer
//	4: on the 9th at 05:00 UTC, the 9th there; ten days ahead; nobody came
//	5: written down after its pickup; cancelled by the host
//	6: in euros, 30 days ahead
//	7: a hold that lapsed; 8: one that is pending; 9: another account's
func TestBookingsByWhenTheyWereMade(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	made := func(account, id int, created, body string) {
		record(t, db, "bookings", account, id, created, `{"vehicle_id":"veh_1","vehicle_class_id":"vcl_5","timezone":"America/Chicago",`+body+`}`)
	}
	priced := func(currency, total string) string {
		return `"currency":"` + currency + `","rate_snapshot":{"lines":[{"type":"time","amount":{"amount":` + total +
			`}},{"type":"discount","amount":{"amount":-500}},{"type":"tax","amount":{"amount":900}}]},`
	}
	made(7, 1, "2026-03-01 05:30:00", priced("USD", "9500")+`"status":"completed","channel":"direct","pickup_at":"2026-03-05T00:00:00Z"`)
	made(7, 2, "2026-03-08 05:30:00", priced("USD", "10500")+`"status":"completed","channel":"direct","pickup_at":"2026-03-08T17:30:00Z"`)
	made(7, 3, "2026-03-09 04:30:00", priced("USD", "20500")+`"status":"cancelled","cancellation":{"cancelled_by":"customer","cancelled_at":"2026-03-10T00:00:00Z"},"channel":"turo","pickup_at":"2026-03-11T04:30:00Z"`)
	made(7, 4, "2026-03-09 05:00:00", priced("USD", "30500")+`"status":"no_show","channel":"direct","pickup_at":"2026-03-19T05:00:00Z"`)
	made(7, 5, "2026-03-12 12:00:00", priced("USD", "40500")+`"status":"cancelled","cancellation":{"cancelled_by":"host","cancelled_at":"2026-04-10T00:00:00Z"},"channel":"direct","pickup_at":"2026-03-11T12:00:00Z"`)
	made(7, 6, "2026-03-12 12:00:00", priced("EUR", "50500")+`"status":"confirmed","channel":"direct","pickup_at":"2026-04-11T12:00:00Z"`)
	made(7, 7, "2026-03-12 12:00:00", priced("USD", "60500")+`"status":"expired","channel":"direct","pickup_at":"2026-03-20T12:00:00Z"`)
	made(7, 8, "2026-03-12 12:00:00", priced("USD", "70500")+`"status":"pending","channel":"direct","pickup_at":"2026-03-20T12:00:00Z"`)
	made(8, 9, "2026-03-12 12:00:00", priced("USD", "80500")+`"status":"confirmed","channel":"direct","pickup_at":"2026-03-20T12:00:00Z"`)
	// The leads are 0.5, 2, 10 and 30 days: 6 in the middle, and 24 nine tenths of the way.
	want(t, ask(t, db, "bookings", "total"), "", `made 7, lapsed 1, pending 1, bookings 5, cancelled 2, cancelled_by_customer 1, cancelled_by_host 1,
		cancelled_by_operator 0, value 100000, cancelled_value 60000, led 4, lead_s 3672000, lead_median_days 6, lead_p90_days 24,
		lead_0_days 1, lead_1_2_days 1, lead_3_6_days 0, lead_7_13_days 1, lead_14_29_days 0, lead_30_89_days 1, lead_90_days 0`)
	days := ask(t, db, "bookings", "day")
	want(t, days, "2026-03-07", "bookings 1, lead_0_days 1")
	want(t, days, "2026-03-08", "bookings 1, cancelled 1, cancelled_value 20000")
	want(t, days, "2026-03-09", "bookings 1, cancelled 0")
	want(t, ask(t, db, "bookings", "channel"), "turo", "bookings 1, value 20000, lead_median_days 2")
	want(t, ask(t, db, "bookings", "class", "channels", "['turo']"), "5", "bookings 1, led 1")
	want(t, ask(t, db, "bookings", "total", "from", "2026-03-10", "to", "2026-03-12", "currency", "EUR"), "",
		"bookings 2, value 50000, cancelled_value 0")

	// What was agreed is not what was charged in the end: nothing of the first of two in May, and of the second, which was
	// imported and has no frozen price, its time. Both had a fee for cleaning.
	made(7, 21, "2026-05-02 12:00:00", `"currency":"USD","total":{"amount":9000},"charges":[{"type":"cleaning","amount":{"amount":9000}}],`+
		`"rate_snapshot":{"lines":[]},"status":"completed"`)
	made(7, 22, "2026-05-03 12:00:00", `"currency":"USD","total":{"amount":9700},"charges":[{"type":"time","amount":{"amount":700}},`+
		`{"type":"cleaning","amount":{"amount":9000}}],"status":"completed"`)
	want(t, ask(t, db, "bookings", "total", "from", "2026-05-01", "to", "2026-05-31"), "", "bookings 2, value 700")

	// Of the same bookings by their planned pickup: 1 and 2 were rented and 4 was not; cancelled ones are nowhere.
	want(t, ask(t, db, "pickups", "total"), "", "planned 3, rentals 2, no_shows 1, expected 3, to_come 0, length_median_days 0")
	want(t, ask(t, db, "pickups", "day"), "2026-03-04", "rentals 1") // the 5th at 00:00 UTC
	want(t, ask(t, db, "pickups", "month", "to", "2026-04-30"), "2026-04-01", "planned 1, rentals 0, no_shows 0, to_come 1, length_median_days null")
}

func TestLengthsOfRentals(t *testing.T) {
	db := openReports(t)
	for id, days := range []string{"1", "2", "3", "4", "6", "7", "13", "14", "29", "30", "90"} {
		record(t, db, "bookings", 7, id+1, "2026-02-01 00:00:00",
			`{"status":"completed","billed_days":`+days+`,"pickup_at":"2026-03-05T12:00:00Z"}`)
	}
	record(t, db, "bookings", 7, 90, "2026-02-01 00:00:00", `{"status":"no_show","billed_days":5,"pickup_at":"2026-03-05T12:00:00Z"}`)
	want(t, ask(t, db, "pickups", "total"), "", `rentals 11, expected 12, billed_days 199, length_1_day 1, length_2_3_days 2, length_4_6_days 2, length_7_13_days 2,
		length_14_29_days 2, length_30_days 2, length_median_days 7`)
}

// Two of four quotes became bookings, and one of these was confirmed and cancelled later; of the others one has run
// out.
func TestWhatBecameOfQuotes(t *testing.T) {
	db := openReports(t)
	for id, more := range map[int]string{
		1: `"booking_id":"bkg_101","channel":"website","expires_at":"2026-03-10T00:00:00Z","rate_snapshot":{"currency":"USD","totals":{"total":{"amount":1000}}}`,
		2: `"booking_id":"bkg_102","channel":"website","expires_at":"2026-03-10T00:00:00Z","rate_snapshot":{"currency":"USD","totals":{"total":{"amount":2000}}}`,
		3: `"channel":"phone","expires_at":"2026-03-10T00:00:00Z","rate_snapshot":{"currency":"USD","totals":{"total":{"amount":4000}}}`,
		4: `"channel":"phone","expires_at":"2027-03-10T00:00:00Z","rate_snapshot":{"currency":"EUR","totals":{"total":{"amount":8000}}}`,
	} {
		record(t, db, "quotes", 7, id, "2026-03-05 12:00:00", "{"+more+"}")
	}
	record(t, db, "quotes", 8, 5, "2026-03-05 12:00:00", `{"booking_id":"bkg_101","channel":"phone"}`)
	record(t, db, "bookings", 7, 101, "2026-03-05 12:00:00", `{"status":"cancelled","confirmed_at":"2026-03-06T00:00:00Z"}`)
	record(t, db, "bookings", 7, 102, "2026-03-05 12:00:00", `{"status":"expired"}`)
	want(t, ask(t, db, "quotes", "total"), "", "quotes 4, accepted 2, confirmed 1, expired 1, value 7000, confirmed_value 1000")
	want(t, ask(t, db, "quotes", "channel"), "phone", "quotes 2, confirmed 0, value 4000")
}

// Customer 1 rented in January and twice in March, 2 first in March and again in May, 3 once in March; 4 is another
// account's. A booking that was cancelled is no rental, and its fee is money all the same.
func TestCustomersThatComeAgain(t *testing.T) {
	db := openReports(t)
	rent := func(account, id int, customer, returned, status, total string) {
		record(t, db, "bookings", account, id, "2026-01-01 00:00:00", `{"status":"`+status+`","channel":"direct","currency":"USD","vehicle_class_id":"vcl_5","customer_id":"`+customer+
			`","actual_return_at":"`+returned+`","charges":[{"type":"time","amount":{"amount":`+total+`}},{"type":"tax","amount":{"amount":7}},{"type":"platform_fee","amount":{"amount":-10}}]}`)
	}
	rent(7, 1, "cus_1", "2026-01-20T12:00:00Z", "completed", "1000")
	rent(7, 2, "cus_1", "2026-03-01T12:00:00Z", "completed", "2000")
	rent(7, 3, "cus_1", "2026-03-20T12:00:00Z", "completed", "4000")
	rent(7, 4, "cus_2", "2026-04-01T04:59:00Z", "completed", "8000") // 31 March, 23:59 in Chicago
	rent(7, 5, "cus_2", "2026-05-20T12:00:00Z", "completed", "16000")
	rent(7, 6, "cus_3", "2026-03-20T12:00:00Z", "completed", "32000")
	rent(7, 7, "cus_3", "", "cancelled", "500")
	rent(7, 8, "", "2026-03-20T12:00:00Z", "completed", "99000")
	rent(8, 9, "cus_1", "2026-03-20T12:00:00Z", "completed", "64000")
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, customer) VALUES
		(7, '2026-01-20', 'revenue.time', 1, 1, 1, -1000, 'USD', 1), (7, '2026-01-20', 'cost.platform_fee', 1, 2, 2, 10, 'USD', 1),
		(7, '2026-03-01', 'revenue.time', 2, 1, 3, -2100, 'USD', 1), (7, '2026-03-01', 'contra.discount', 2, 2, 4, 100, 'USD', 1),
		(7, '2026-03-20', 'revenue.time', 3, 1, 5, -4000, 'USD', 1), (7, '2026-03-20', 'tax_payable', 3, 2, 6, -7, 'USD', 1),
		(7, '2026-03-31', 'revenue.time', 4, 1, 7, -8000, 'USD', 2), (7, '2026-05-20', 'revenue.time', 5, 1, 8, -16000, 'USD', 2),
		(7, '2026-03-20', 'revenue.time', 6, 1, 9, -32000, 'USD', 3), (7, '2026-03-20', 'revenue.fees', 6, 2, 10, -500, 'USD', 3),
		(7, '2026-03-20', 'revenue.time', 6, 3, 11, -9, 'EUR', 3), (8, '2026-03-20', 'revenue.time', 7, 1, 12, -64000, 'USD', 1),
		(7, '2026-03-20', 'revenue.toll_recharge', 3, 3, 13, -70, 'USD', 1)`)
	// what the books have of all three by the end of March: 6,990, 8,000 and 32,500
	want(t, ask(t, db, "customers", "total"), "", "customers 3, repeat_customers 1, new_customers 2, returning_customers 1, rentals 4, returning_rentals 2, billed 46000, lifetime_net 47490")
	want(t, ask(t, db, "customers", "customer"), "1", "customers 1, repeat_customers 1, new_customers 0, rentals 2, billed 6000, lifetime_net 6990")
	want(t, ask(t, db, "customers", "customer", "to", "2026-03-19"), "1", "rentals 1, billed 2000, lifetime_net 2990")
	months := ask(t, db, "customers", "month", "from", "2026-01-01", "to", "2026-06-30")
	want(t, months, "2026-01-01", "customers 1, new_customers 1, returning_rentals 0")
	want(t, months, "2026-05-01", "customers 1, new_customers 0, returning_customers 1, billed 16000")

	cohorts := ask(t, db, "customer_cohorts", "month", "from", "2026-01-01", "to", "2026-06-30", "today", "2026-05-31")
	want(t, cohorts, "2026-01-01", "customers 1, first_billed 1000, active_m1 0, reached_m1 1, active_m2 1, billed_m2 6000, reached_m4 1, reached_m5 0, active_m12 0")
	want(t, cohorts, "2026-03-01", "customers 2, first_billed 40000, active_m1 0, active_m2 1, billed_m2 16000, reached_m2 2, reached_m3 0")
	want(t, ask(t, db, "customer_cohorts", "total", "from", "2026-01-01", "to", "2026-06-30", "today", "2026-05-31"), "",
		"customers 3, active_m2 2, reached_m2 3, reached_m4 1")
}

// A tag that a vehicle has twice makes two of nothing: its rental is one of the tag, and of each other that it has.
func TestATagThatStandsTwiceCountsOnce(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2026-01-01 00:00:00", `{"make":"Ford","model":"Focus","tags":["van","van","red"]}`)
	record(t, db, "bookings", 7, 1, "2026-01-01 00:00:00", `{"status":"completed","channel":"direct","currency":"USD","vehicle_id":"veh_1",
		"customer_id":"cus_1","actual_return_at":"2026-03-20T12:00:00Z","charges":[{"type":"time","amount":{"amount":1000}}]}`)
	tags := ask(t, db, "customers", "tag")
	for _, tag := range []string{"van", "red"} {
		want(t, tags, tag, "customers 1, new_customers 1, returning_customers 0, rentals 1, returning_rentals 0, billed 1000")
	}
}

// Today is 1 June 2026. For the first days of July there are: booking 1, of two days; 2, which was cancelled in May;
// 3, in euros. A year before, as of 1 June 2025, there were: 11, of three days; 12, cancelled on 15 June 2025, of
// one day; and not yet 13, confirmed on 10 June 2025, of four days. In the end 11 and 13 were rented.
func TestPaceIsThatOfTheSameDayAYearBefore(t *testing.T) {
	db := openReports(t)
	book := func(account, id int, status, since, confirmed, currency string, dates ...string) {
		days := ""
		for _, date := range dates {
			if days != "" {
				days += ","
			}
			days += `{"date":"` + date + `","amount":{"amount":4000}}`
		}
		agreed := strconv.Itoa(5000 * len(dates)) // with what is no price of a day
		record(t, db, "bookings", account, id, "2025-01-01 00:00:00", `{"status":"`+status+`","status_since":"`+since+
			`","confirmed_at":"`+confirmed+`","currency":"`+currency+
			`","channel":"direct","customer_id":"cus_1","rate_snapshot":{"days":[`+days+`],"lines":[{"type":"time","amount":{"amount":`+
			agreed+`}},{"type":"tax","amount":{"amount":77}}]}}`)
	}
	book(7, 1, "confirmed", "2026-05-01T00:00:00Z", "2026-05-01T12:00:00Z", "USD", "2026-07-01", "2026-07-02")
	book(7, 2, "cancelled", "2026-05-20T12:00:00Z", "2026-05-01T12:00:00Z", "USD", "2026-07-01")
	book(7, 3, "confirmed", "2026-06-02T03:00:00Z", "2026-06-02T03:00:00Z", "EUR", "2026-07-03") // still 1 June in Chicago
	book(7, 4, "pending", "2026-05-20T12:00:00Z", "", "USD", "2026-07-01")
	book(7, 11, "completed", "2025-07-04T12:00:00Z", "2025-05-01T12:00:00Z", "USD",
		"2025-07-01", "2025-07-02", "2025-07-03")
	book(7, 12, "cancelled", "2025-06-15T12:00:00Z", "2025-05-01T12:00:00Z", "USD", "2025-07-02")
	book(7, 13, "completed", "2025-07-09T12:00:00Z", "2025-06-10T12:00:00Z", "USD",
		"2025-07-04", "2025-07-05", "2025-07-06", "2025-07-07")
	book(8, 14, "completed", "2025-07-09T12:00:00Z", "2025-05-10T12:00:00Z", "USD", "2025-07-04")
	july := []string{"from", "2026-07-01", "to", "2026-07-31", "today", "2026-06-01"}
	want(t, ask(t, db, "pace", "total", july...), "", `days_on_books 3, revenue_on_books 10000, priced_days 2, days_last_year 4, revenue_last_year 20000,
		priced_days_last_year 4, days_final_last_year 7, revenue_final_last_year 35000`)
	days := ask(t, db, "pace", "day", july...)
	want(t, days, "2026-07-02", "days_on_books 1, days_last_year 2, days_final_last_year 1")
	want(t, days, "2026-07-04", "days_on_books 0, days_last_year 0, days_final_last_year 1")

	// An imported booking has no frozen rate: 100.01 are spread over the three days from the 9th in Chicago on, with what
	// is left over on the last.
	record(t, db, "bookings", 7, 5, "2026-05-01 00:00:00", `{"status":"confirmed","confirmed_at":"2026-05-01T12:00:00Z",
		"currency":"USD","timezone":"America/Chicago","pickup_at":"2026-07-10T04:00:00Z","return_at":"2026-07-13T04:00:00Z",
		"charges":[{"type":"time","amount":{"amount":10001}}]}`)
	days = ask(t, db, "pace", "day", july...)
	want(t, days, "2026-07-09", "days_on_books 1, revenue_on_books 3333")
	want(t, days, "2026-07-11", "days_on_books 1, revenue_on_books 3334")
	want(t, ask(t, db, "pace", "channel", july...), "direct", "days_on_books 6")
}

// What a platform kept, and what was got back for damage: of the entries of March, in dollars, of the account.
func TestMoneyOfChannelsAndDamage(t *testing.T) {
	db := openReports(t)
	has(t, db, 1, 2)
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, vehicle, channel) VALUES
		(7, '2026-03-01', 'revenue.time', 1, 1, 1, -10000, 'USD', 1, 'turo'), (7, '2026-03-01', 'contra.discount', 1, 2, 2, 1000, 'USD', 1, 'turo'),
		(7, '2026-03-01', 'cost.platform_fee', 1, 3, 3, 1800, 'USD', 1, 'turo'), (7, '2026-03-01', 'revenue.toll_recharge', 1, 4, 4, -300, 'USD', 1, 'turo'),
		(7, '2026-03-31', 'revenue.time', 2, 1, 5, -5000, 'USD', 1, 'direct'), (7, '2026-04-01', 'revenue.time', 2, 2, 6, -5000, 'USD', 1, 'direct'),
		(7, '2026-03-31', 'revenue.time', 3, 1, 7, -5000, 'EUR', 1, 'direct'), (8, '2026-03-31', 'revenue.time', 4, 1, 8, -5000, 'USD', 1, 'direct'),
		(7, '2026-03-10', 'revenue.damage', 5, 1, 9, -40000, 'USD', 2, 'direct'), (7, '2026-03-11', 'revenue.damage', 6, 1, 10, 10000, 'USD', 2, 'direct'),
		(7, '2026-03-20', 'cost.repair', 7, 1, 11, 45000, 'USD', 2, ''), (7, '2026-03-20', 'cost.maintenance', 8, 1, 12, 7000, 'USD', 2, '')`)
	channels := ask(t, db, "take_rate", "channel")
	want(t, channels, "turo", "gross 9000, platform_fees 1800")
	want(t, channels, "direct", "gross 35000, platform_fees 0")
	want(t, ask(t, db, "take_rate", "month", "to", "2026-04-30"), "2026-04-01", "gross 5000, platform_fees 0")
	want(t, ask(t, db, "damage_recovery", "total"), "", "recovered 30000, repair_cost 45000, unrecovered 15000")
	want(t, ask(t, db, "damage_recovery", "vehicle"), "2", "recovered 30000, repair_cost 45000")
}
