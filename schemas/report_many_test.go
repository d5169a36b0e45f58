//go:build long

package schemas_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// many makes a year and more of an account's business: so many vehicles of four makes in four time zones, bookings
// of all states one after the other, what was posted for them, and trips and what else is derived.
func many(t *testing.T, db driver.Conn, account, vehicles, bookings, trips int) {
	t.Helper()
	values := strings.NewReplacer("$account", strconv.Itoa(account), "$vehicles", strconv.Itoa(vehicles),
		"$bookings", strconv.Itoa(bookings), "$trips", strconv.Itoa(trips), "$step", strconv.Itoa(365*86400*vehicles/trips))
	for _, statement := range manyRows {
		put(t, db, values.Replace(statement))
	}
}

var manyRows = []string{
	`INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
		SELECT $account, number + 1, 1, '2024-01-01 00:00:00', '2024-01-01 00:00:00', concat('{"make":"', ['Tesla', 'Ford', 'Kia', 'Toyota'][number % 4 + 1],
			'","model":"', ['A', 'B', 'C'][number % 3 + 1], '","status":"available","fuel_type":"', if(number % 4 = 0, 'electric', 'gasoline'),
			'","fuel_capacity_gal":15,"battery_kwh":75,"timezone":"', ['', 'America/Chicago', 'America/New_York', 'Europe/Berlin'][number % 4 + 1],
			'","vehicle_class_id":"vcl_', toString(number % 8 + 1), '","home_location_id":"loc_', toString(number % 6 + 1),
			'","owner_customer_id":"', if(number % 5 = 0, concat('cus_', toString(number % 50 + 1)), ''),
			'","tags":["t', toString(number % 7), '","u', toString(number % 3), '"]}')
		FROM numbers($vehicles)`,
	`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, deleted, distance_m, distance_estimated_m, moving_s, unrecorded, idle_s, max_speed_mps, body)
		SELECT $account, number % $vehicles + 1, number + 1, 1,
			toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + toIntervalSecond(intDiv(number, $vehicles) * $step + number % 977 * 60) AS s,
			s + toIntervalSecond(600 + number % 3000), number % 97 = 0, 1000 + number % 50000 AS metres, if(number % 200 = 0, metres, number % 100 = 0 ? 500 : 0),
			500 + number % 2900, number % 200 = 0, 60 + number % 40, 10 + number % 30, '{}'
		FROM numbers($trips)`,
	`INSERT INTO stops (account, vehicle, id, revision, start_at, end_at, idle_s, body)
		SELECT account, vehicle, id, 1, end_at, end_at + INTERVAL 1 HOUR, id % 300, '{}' FROM trips WHERE account = $account`,
	`INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, energy_kwh, body)
		SELECT account, vehicle, id, 1, end_at, end_at + INTERVAL 1 HOUR, if(id % 8 = 0, NULL, 20), '{}'
		FROM trips WHERE account = $account AND vehicle % 4 = 1 AND id % 3 = 0`,
	`INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, geofence, body)
		SELECT account, vehicle, id, 1, end_at, end_at + toIntervalHour(id % 60), id % 5 + 1, '{}' FROM trips WHERE account = $account AND cityHash64(id) % 4 = 0`,
	`INSERT INTO driving_events (account, vehicle, id, revision, start_at, end_at, what, body)
		SELECT account, vehicle, id, 1, start_at, start_at + toIntervalSecond(id % 60),
			['harsh_braking', 'harsh_acceleration', 'harsh_cornering', 'speeding', 'crash'][id % 5 + 1], '{}'
		FROM trips WHERE account = $account AND cityHash64(id) % 4 = 1`,
	`INSERT INTO alerts (account, vehicle, id, revision, start_at, end_at, alert_kind, severity, body)
		SELECT account, vehicle, id, 1, start_at, end_at, ['speeding', 'idling', 'offline'][id % 3 + 1], ['info', 'warning', 'critical'][id % 3 + 1], '{}'
		FROM trips WHERE account = $account AND cityHash64(id) % 4 = 2`,
	`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, fleet_s, rented_s, driven_m, rented_m, fuel_l, energy_kwh, revenue_time, cost_energy)
		SELECT $account, toDate32('2026-01-01') + intDiv(number, $vehicles), number % $vehicles + 1, 'USD', now64(3), 86400, 43200,
			40000 + number % 30000, 20000 + number % 20000, if(number % 4 = 0, 0, 10), if(number % 4 = 0, 15, 0), 5000, 100
		FROM numbers(365 * $vehicles)`,
	`INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
		WITH number % $vehicles + 1 AS v, intDiv(number, $vehicles) AS k, intDiv(1000 * $vehicles, $bookings) AS every,
			toDateTime64('2024-01-03 15:00:00', 3, 'UTC') + toIntervalDay(k * every + v % 5) AS p,
			1 + (number * 7919) % greatest(1, every - 1) AS len, p + toIntervalDay(len) AS r, p - toIntervalHour((number * 104729) % 2000) AS c,
			toDateTime64('2026-06-30 12:00:00', 3, 'UTC') AS now,
			multiIf(number % 11 = 0, 'cancelled', number % 67 = 0, 'no_show', p > now, 'confirmed', r > now, 'active', 'completed') AS st
		SELECT $account, bitShiftLeft(toUInt64(toUnixTimestamp64Milli(c) - 1577836800000), 22) + number, 1, c, c,
			concat('{"number":"B-', toString(number), '","status":"', st, '","status_since":"', formatDateTime(least(r, now), '%FT%TZ'),
			'","channel":"', ['direct', 'turo', 'website', 'phone'][number % 4 + 1], '","customer_id":"cus_', toString((number * 31) % intDiv($bookings * 2, 3) + 1),
			'","vehicle_id":"veh_', toString(v), '","vehicle_class_id":"vcl_', toString(v % 8 + 1), '","pickup_location_id":"loc_', toString(v % 6 + 1),
			'","pickup_at":"', formatDateTime(p, '%FT%TZ'), '","return_at":"', formatDateTime(r, '%FT%TZ'), '","confirmed_at":"', formatDateTime(c, '%FT%TZ'),
			'","timezone":"America/Chicago","currency":"', if(number % 50 = 0, 'EUR', 'USD'), '","billed_days":', toString(len),
			if(st IN ('active', 'completed'), concat(',"actual_pickup_at":"', formatDateTime(p + INTERVAL 5 MINUTE, '%FT%TZ'), '","pickup_mileage_mi":',
				toString(k * 1000), ',"pickup_fuel_pct":100,"pickup_battery_level":90'), ''),
			if(st = 'completed', concat(',"actual_return_at":"', formatDateTime(r - INTERVAL 30 MINUTE, '%FT%TZ'), '","return_mileage_mi":',
				toString(k * 1000 + len * 60 + number % 300), ',"return_fuel_pct":', toString(100 - number % 40), ',"return_battery_level":80'), ''),
			if(st = 'cancelled', concat(',"cancellation":{"cancelled_at":"', formatDateTime(c + INTERVAL 1 HOUR, '%FT%TZ'), '","cancelled_by":"',
				['customer', 'host', 'operator', 'system'][intDiv(number, 11) % 4 + 1], '"}'), ''),
			',"charges":[{"type":"time","quantity":1,"amount":{"amount":', toString(len * 5000), '}},{"type":"tax","quantity":1,"amount":{"amount":', toString(len * 500),
			'}}],"rate_snapshot":{"included_mi":', toString(len * 50), ',"extra_mile_fee":{"amount":25},"totals":{"total":{"amount":', toString(len * 5500),
			'},"taxes_total":{"amount":', toString(len * 500), '}},"days":[',
			arrayStringConcat(arrayMap(i -> concat('{"date":"', toString(toDate(p) + i), '","amount":{"amount":5000}}'), range(len)), ','), ']}}')
		FROM numbers($bookings)`,
	`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, use_date, vehicle, class, booking, customer, location, channel, kind, source)
		SELECT account, d, acc, id, n, id + n,
			multiIf(acc = 'contra.discount', 200, acc = 'cost.platform_fee', 700, acc = 'cost.repair', 90, acc = 'revenue.damage', -30, -5000),
			currency, d, leg_vehicles[1], toUInt64(substring(vehicle_class_id, 5)), id, toUInt64(substring(customer_id, 5)),
			toUInt64(substring(pickup_location_id, 5)), channel, 'booking', id
		FROM (
			SELECT *, toDate32(arrayJoin(JSONExtract(body, 'rate_snapshot', 'days', 'Array(Tuple(date String))')).1) AS d FROM bookings WHERE account = $account AND status IN ('active', 'completed')
		)
		ARRAY JOIN ['revenue.time', 'revenue.fees', 'contra.discount', 'cost.platform_fee', 'cost.repair', 'revenue.damage', 'accounts_receivable'] AS acc,
			[1, 2, 3, 4, 5, 6, 7] AS n`,
	`INSERT INTO vehicle_statuses (account, vehicle, since, revision, status)
		SELECT account, leg_vehicles[1], actual_return_at + toIntervalMinute(30 + id % 600), 1, 'available'
		FROM bookings WHERE account = $account AND status = 'completed'`,
	`INSERT INTO quotes (account, id, revision, created_at, updated_at, body)
		SELECT account, id, 1, created_at, created_at, concat('{"booking_id":"', if(id % 3 = 0, concat('bkg_', toString(id)), ''), '","channel":"', channel,
			'","vehicle_class_id":"', vehicle_class_id, '","pickup_location_id":"', pickup_location_id, '","customer_id":"', customer_id,
			'","rate_snapshot":{"currency":"', currency, '","totals":{"total":{"amount":5000}}}}')
		FROM bookings WHERE account = $account`,
}
