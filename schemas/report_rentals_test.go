package schemas_test

import (
	"strings"
	"testing"
)

// Rental 1 has vehicle 1, with a tank of 10 gallons, from 1 March 10:00 to 3 March 10:00 UTC. Rental 2, by a
// platform, takes it ten minutes later, swaps it for vehicle 2, with a battery of 50 kWh, a day later, and ends a
// day after that. Of others one is in euros, one was cancelled, one ended in April and one is another account's.
//
// Miles by trackers: of rental 1 a trip of 100,000 m, half of one of 8,000 m that was under way at the pickup, and a
// third of one of 6,000 m that went on for twenty minutes before the return; half an hour of the hour of that last
// trip is rental 2's: 3,000 m, beside 20,000 m in vehicle 2. Vehicle 2 went 7,000 m before the swap, for nobody.
//
// Miles by odometers: 260 of rental 1, of which 200 are included and 10 charged, so that 50 were forgotten, at 0.25.
// Of rental 2 nobody read vehicle 2's.
//
// Fuel: a quarter of the tank is missing, 2.5 gallons, at 4.00 a gallon 10.00, and 3.00 were charged. A fifth of the
// battery is missing, 10 kWh, at 0.30, and nothing was charged.
func TestWhatARentalReallyEarned(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2026-01-01 00:00:00", `{"make":"Ford","model":"Focus","fuel_capacity_gal":10,"vehicle_class_id":"vcl_5"}`)
	record(t, db, "vehicles", 7, 2, "2026-01-01 00:00:00", `{"make":"Tesla","model":"3","battery_kwh":50,"vehicle_class_id":"vcl_6"}`)
	record(t, db, "bookings", 7, 101, "2026-02-01 00:00:00", `{"status":"completed","channel":"direct","currency":"USD","customer_id":"cus_31","vehicle_id":"veh_1",
		"vehicle_class_id":"vcl_5","pickup_location_id":"loc_1","billed_days":2,"actual_pickup_at":"2026-03-01T10:00:00Z","actual_return_at":"2026-03-03T10:00:00Z",
		"return_at":"2026-03-03T10:00:00Z","pickup_mileage_mi":1000,"return_mileage_mi":1260,"pickup_fuel_pct":100,"return_fuel_pct":75,
		"rate_snapshot":{"included_mi":200,"extra_mile_fee":{"amount":25}},
		"charges":[{"type":"mileage","quantity":20,"amount":{"amount":500}},{"type":"mileage","quantity":-10,"amount":{"amount":-250}},{"type":"refuel","quantity":1,"amount":{"amount":300}}]}`)
	record(t, db, "bookings", 7, 102, "2026-02-01 00:00:00", `{"status":"completed","channel":"turo","currency":"USD","customer_id":"cus_32","vehicle_id":"veh_2",
		"vehicle_class_id":"vcl_5","pickup_location_id":"loc_1","billed_days":2,"actual_pickup_at":"2026-03-03T10:10:00Z","actual_return_at":"2026-03-05T10:10:00Z",
		"return_at":"2026-03-05T10:10:00Z","pickup_mileage_mi":500,"pickup_battery_level":80,"return_battery_level":60,
		"vehicle_history":[{"vehicle_id":"veh_9","from":null,"until":"2026-03-02T00:00:00Z"},
			{"vehicle_id":"veh_1","from":"2026-03-03T10:10:00Z","until":"2026-03-04T10:10:00Z","pickup_mileage_mi":1262,"mileage_mi":1300}]}`)
	for id, more := range map[int]string{
		103: `"status":"completed","currency":"EUR","actual_return_at":"2026-03-20T10:00:00Z"`,
		104: `"status":"cancelled","currency":"USD","actual_return_at":"2026-03-20T10:00:00Z"`,
		105: `"status":"completed","currency":"USD","actual_return_at":"2026-04-01T06:00:00Z"`, // in Chicago too
	} {
		record(t, db, "bookings", 7, id, "2026-02-01 00:00:00", `{"vehicle_id":"veh_1","actual_pickup_at":"2026-03-18T10:00:00Z",`+more+`}`)
	}
	record(t, db, "bookings", 8, 106, "2026-02-01 00:00:00", `{"vehicle_id":"veh_1","status":"completed","currency":"USD","actual_pickup_at":"2026-03-01T10:00:00Z","actual_return_at":"2026-03-03T10:00:00Z"}`)
	put(t, db, `INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, deleted, distance_m, body) VALUES
		(7, 1, 11, 1, '2026-03-01 09:30:00', '2026-03-01 10:30:00', false, 8000, '{}'),
		(7, 1, 12, 1, '2026-03-02 08:00:00', '2026-03-02 09:00:00', false, 100000, '{}'),
		(7, 1, 13, 1, '2026-03-03 09:40:00', '2026-03-03 10:40:00', false, 6000, '{}'),
		(7, 1, 14, 1, '2026-03-02 12:00:00', '2026-03-02 13:00:00', true, 55000, '{}'),
		(7, 1, 15, 1, '2026-03-10 12:00:00', '2026-03-10 13:00:00', false, 4000, '{}'),
		(7, 2, 21, 1, '2026-03-04 09:00:00', '2026-03-04 10:00:00', false, 7000, '{}'),
		(7, 2, 22, 1, '2026-03-04 12:00:00', '2026-03-04 13:00:00', false, 20000, '{}'),
		(8, 1, 31, 1, '2026-03-02 12:00:00', '2026-03-02 13:00:00', false, 66000, '{}')`,
		// what rental 1 earned: 100.00 less 5.00, and 1.00 that was posted in April; a toll cost 2.00. The tax is nobody's.
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking) VALUES
		(7, '2026-03-01', 'revenue.time', 1, 1, 1, -5000, 'USD', 101), (7, '2026-03-02', 'revenue.time', 1, 2, 2, -5000, 'USD', 101),
		(7, '2026-03-02', 'contra.discount', 1, 3, 3, 500, 'USD', 101), (7, '2026-03-01', 'tax_payable', 1, 4, 4, -950, 'USD', 101),
		(7, '2026-04-09', 'revenue.fees', 2, 1, 5, -100, 'USD', 101), (7, '2026-03-02', 'cost.toll', 3, 1, 6, 200, 'USD', 101),
		(7, '2026-03-03', 'revenue.time', 4, 1, 7, -6000, 'USD', 102), (7, '2026-03-03', 'cost.platform_fee', 4, 2, 8, 1500, 'USD', 102),
		(7, '2026-03-20', 'revenue.time', 5, 1, 9, -7000, 'EUR', 103), (7, '2026-03-20', 'revenue.fees', 6, 1, 10, -800, 'USD', 104),
		(8, '2026-03-02', 'revenue.time', 7, 1, 11, -90000, 'USD', 101)`,
		`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, driven_m, rented_m) VALUES
		(7, '2026-03-02', 1, 'USD', '2026-03-09 00:00:00', 100000, 100000), (7, '2026-03-10', 1, 'USD', '2026-03-11 00:00:00', 4000, 0),
		(7, '2026-03-04', 2, 'USD', '2026-03-09 00:00:00', 27000, 20000)`)
	rentals := ask(t, db, "rental_economics", "booking")
	if len(rentals) != 2 {
		t.Errorf("%d rentals, not two", len(rentals))
	}
	// 106,000 m are 65.865 mi
	want(t, rentals, "101", `rentals 1, rented_s 172800, billed_days 2, revenue 9600, contribution 9400, gps_mi 65.8653, compared_gps_mi 65.8653, odometer_mi 260,
		over_mi 60, unbilled_mi 50, unbilled_mileage 1250, missing_gal 2.5, unbilled_gal 0, unbilled_fuel 700, missing_kwh 0, unbilled_charging 0, driven_mi null, outside_mi null`)
	want(t, rentals, "102", `rented_s 172800, revenue 6000, contribution 4500, gps_mi 14.2915, compared_gps_mi 0, odometer_mi 0, over_mi 0, unbilled_mi 0,
		missing_gal 0, missing_kwh 10, unbilled_kwh 10, unbilled_charging 300`)
	// 131,000 m driven, 11,000 of them outside
	want(t, ask(t, db, "rental_economics", "total"), "", "rentals 2, revenue 15600, gps_mi 80.1569, driven_mi 81.3996, outside_mi 6.8351")
	want(t, ask(t, db, "rental_economics", "vehicle"), "2", "rentals 1, revenue 6000, gps_mi 14.2915, outside_mi 4.3496")
	want(t, ask(t, db, "rental_economics", "channel"), "turo", "rentals 1, revenue 6000, outside_mi null")
	want(t, ask(t, db, "rental_economics", "day"), "2026-03-10", "rentals 0, revenue 0, driven_mi 2.4855, outside_mi 2.4855")
	want(t, ask(t, db, "rental_economics", "total", "channels", "['turo']"), "", "rentals 1, revenue 6000")
	want(t, ask(t, db, "rental_economics", "total", "currency", "EUR"), "", "rentals 1, revenue 7000, unbilled_fuel null, unbilled_charging null")
}

// What a rental earned begins on the day of the planned pickup, however late somebody came for it.
func TestDaysBeforeALatePickupAreEarnedToo(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	record(t, db, "bookings", 7, 101, "2026-02-01 00:00:00", `{"status":"completed","currency":"USD","vehicle_id":"veh_1","billed_days":5,"pickup_at":"2026-03-01T10:00:00Z",
		"actual_pickup_at":"2026-03-04T10:00:00Z","actual_return_at":"2026-03-06T09:00:00Z","return_at":"2026-03-06T10:00:00Z"}`)
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, booking) VALUES
		(7, '2026-03-01', 'revenue.time', 1, 1, 1, -5000, 'USD', 101), (7, '2026-03-02', 'revenue.time', 1, 2, 2, -5000, 'USD', 101),
		(7, '2026-03-05', 'revenue.time', 1, 3, 3, -5000, 'USD', 101)`)
	want(t, ask(t, db, "rental_economics", "total"), "", "rentals 1, revenue 15000, contribution 15000")
}

// A day late, which was charged, brings the miles of a day: of 350 driven 200 and 100 are included, so that 50 are
// over.
func TestALateDayBringsItsMiles(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	record(t, db, "bookings", 7, 101, "2026-02-01 00:00:00", `{"status":"completed","currency":"USD","vehicle_id":"veh_1","billed_days":2,"actual_pickup_at":"2026-03-01T10:00:00Z",
		"actual_return_at":"2026-03-04T09:00:00Z","return_at":"2026-03-03T10:00:00Z","pickup_mileage_mi":1000,"return_mileage_mi":1350,
		"rate_snapshot":{"included_mi":200,"extra_mile_fee":{"amount":25}},"charges":[{"type":"late_return","quantity":1,"amount":{"amount":9000}}]}`)
	want(t, ask(t, db, "rental_economics", "total"), "", "over_mi 50, unbilled_mi 50, unbilled_mileage 1250, gps_mi 0")
}

// Vehicle 1 came back on 1 March at 10:00 UTC, was ready two hours later, and picked up again six hours later, as
// the second vehicle of another rental; that came back on the 2nd at 10:00 and was ready after the next pickup only,
// two hours later; the last return has neither yet.
func TestTurnaround(t *testing.T) {
	db := openReports(t)
	has(t, db, 1, 2)
	for id, more := range map[int]string{
		101: `"status":"completed","actual_pickup_at":"2026-02-27T10:00:00Z","actual_return_at":"2026-03-01T10:00:00Z"`,
		102: `"status":"completed","actual_pickup_at":"2026-02-27T10:00:00Z","actual_return_at":"2026-03-02T10:00:00Z","vehicle_history":[{"vehicle_id":"veh_2","from":"2026-02-27T10:00:00Z","until":"2026-03-01T16:00:00Z"}]`,
		103: `"status":"completed","actual_pickup_at":"2026-03-02T12:00:00Z","actual_return_at":"2026-03-04T10:00:00Z"`,
		104: `"status":"cancelled","actual_pickup_at":"2026-03-01T11:00:00Z","actual_return_at":"2026-03-01T11:00:00Z"`,
	} {
		record(t, db, "bookings", 7, id, "2026-02-01 00:00:00", `{"vehicle_id":"veh_1","channel":"direct",`+more+`}`)
	}
	put(t, db, `INSERT INTO vehicle_statuses (account, vehicle, since, revision, status) VALUES (7, 1, '2026-03-01 10:00:00', 1, 'turnaround'),
		(7, 1, '2026-03-01 12:00:00', 2, 'available'), (7, 1, '2026-03-02 12:30:00', 3, 'available'), (8, 1, '2026-03-01 11:00:00', 2, 'available')`)
	// The hours to the next pickup are 6 and 2: 4 in the middle, and 5.6 nine tenths of the way.
	want(t, ask(t, db, "turnaround", "total"), "", "returns 3, readied 1, ready_s 7200, ready_median_hours 2, ready_p90_hours 2, repicked 2, gap_s 28800, gap_median_hours 4, gap_p90_hours 5.6")
	want(t, ask(t, db, "turnaround", "day"), "2026-03-04", "returns 1, readied 0, ready_median_hours null, repicked 0, gap_median_hours null")
	rows := ask(t, db, "turnaround", "total", "from", "2026-03-05", "to", "2026-03-09")
	if rows[""] != nil && *rows[""]["returns"] != 0 {
		t.Error("returns of days without any")
	}
}

// A rental ends on the local day of its booking, whether its zone is one whose days bookings keep, another or the
// account's; and a zone that the server does not know keeps no booking out.
func TestARentalEndsOnTheDayOfItsZone(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	booked := func(account, id int, zone, returned string) {
		record(t, db, "bookings", account, id, "2026-02-01 00:00:00", `{"status":"completed","currency":"USD","customer_id":"cus_31","vehicle_id":"veh_1",
			"actual_pickup_at":"2026-03-01T10:00:00Z","timezone":"`+zone+`","actual_return_at":"`+returned+`"}`)
	}
	booked(7, 101, "Pacific/Auckland", "2026-03-04T11:30:00Z") // half past midnight
	booked(7, 102, "America/Nome", "2026-03-04T08:30:00Z")     // half past eleven of the day before
	booked(7, 103, "", "2026-03-04T05:30:00Z")                 // as late, in Chicago
	booked(7, 104, "UTC", "2026-03-04T23:30:00Z")
	booked(9, 105, "Moon/Tranquility", "2026-03-04T23:30:00Z")
	var kept []string
	if err := db.QueryRow(t.Context(), `SELECT arrayMap(d -> toString(d), groupArray(returned_on))
		FROM (SELECT returned_on FROM bookings ORDER BY id)`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(kept, " "); got != "2026-03-05 1970-01-01 1970-01-01 2026-03-04 1970-01-01" {
		t.Errorf("bookings keep %s", got)
	}
	for report, figure := range map[string]string{
		"customers": "rentals", "rental_economics": "rentals", "turnaround": "returns",
	} {
		rows := ask(t, db, report, "day")
		want(t, rows, "2026-03-03", figure+" 2")
		want(t, rows, "2026-03-04", figure+" 1")
		want(t, rows, "2026-03-05", figure+" 1")
	}
	want(t, ask(t, db, "customer_cohorts", "month"), "2026-03-01", "customers 1")
}
