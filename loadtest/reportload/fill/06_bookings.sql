-- steps: 13
-- 715,000 bookings: each vehicle has one every 26 days, of 1 to 16 days, made up to 90 days ahead. An eighth was
-- cancelled, and some customers never came. What is after 2030-01-01 is still to come.
INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
WITH t -> formatDateTime(t, '%FT%T.000Z') AS iso, toDateTime('2030-01-01 00:00:00', 'UTC') AS present,
    number + {step:UInt32} * 55000 AS n, 1 + n % 5000 AS v, intDiv(n, 5000) AS k, cityHash64(n) AS h, 1 + h % 16 AS days,
    toDateTime('2020-01-01 09:00:00', 'UTC') + toIntervalDay(k * 26 + intDiv(h, 16) % 9) + toIntervalHour(intDiv(h, 144) % 10) AS pickup,
    pickup + toIntervalDay(days) AS return,
    least(present - 60, greatest(toDateTime('2020-01-01 00:00:01', 'UTC'), pickup - toIntervalMinute(intDiv(h, 1440) % 129600))) AS made,
    multiIf(intDiv(h, 7) % 8 = 0, 'cancelled', pickup > present, 'confirmed', intDiv(h, 11) % 60 = 0, 'no_show', return > present, 'active', 'completed') AS st,
    4000 + v % 20 * 250 + intDiv(h, 17) % 1500 AS price, 1 + intDiv(v, 20) % 12 AS loc, if(loc = 12, 'EUR', 'USD') AS money,
    amount -> concat('{"amount":', toString(amount), ',"currency":"', money, '"}') AS coins,
    ['direct', 'website', 'turo', 'getaround', 'ota'][1 + intDiv(h, 13) % 5] AS way
SELECT 7, bitShiftLeft(toUInt64(toUnixTimestamp(made)) * 1000 - 1577836800000, 22) + n, 9, made, least(present, return),
    concat('{"number":"B-', toString(n), '","status":"', st, '","status_since":"', iso(least(present, return)), '","channel":"', way,
        '","customer_id":"cus_', toString(1 + cityHash64(n, 'customer') % 200000), '","vehicle_id":"veh_', toString(v),
        '","vehicle_class_id":"vcl_', toString(1 + v % 20), '","pickup_location_id":"loc_', toString(loc), '","return_location_id":"loc_', toString(loc),
        '","timezone":"', ['America/New_York', 'America/Chicago'][1 + (loc + 1) % 2], '","currency":"', money, '","billed_days":', toString(days),
        ',"pickup_at":"', iso(pickup), '","return_at":"', iso(return), '","confirmed_at":"', iso(made), '",',
        if(st = 'cancelled', concat('"cancellation":{"cancelled_at":"', iso(made + 3600), '","cancelled_by":"',
            ['customer', 'host', 'operator', 'system'][1 + h % 4], '"},'), ''),
        if(st IN ('active', 'completed'), concat('"actual_pickup_at":"', iso(pickup + 600), '","pickup_mileage_mi":', toString(k * 1000),
            ',"pickup_fuel_pct":100,'), ''),
        if(st = 'completed', concat('"actual_return_at":"', iso(return + h % 7200 - 3600), '","return_mileage_mi":', toString(k * 1000 + days * 60 + h % 300),
            ',"return_fuel_pct":', toString(100 - h % 40), ','), ''),
        '"charges":[', arrayStringConcat(arrayMap((what, part, more) -> concat('{"id":"chg_', toString(h % 100000), what, '","type":"', what,
            '","quantity":1,"amount":', coins(part), more, ',"explanation":"', repeat('how it came to be ', 6), '"}'), ['time', 'extra', 'tax'],
            [toInt64(days * price), if(h % 3 = 0, 2500, 0), toInt64(intDiv(days * price, 10))],
            [',"taxable":true', '', ',"description":"State tax","tax_rate_bp":1000']), ','),
        '],"rate_snapshot":{"included_mi":', toString(days * 80), ',"extra_mile_fee":', coins(25), ',"rate":{"no_show_grace_minutes":1440},"lines":[{"type":"time","amount":',
        coins(days * price), '},{"type":"extra","amount":', coins(if(h % 3 = 0, 2500, 0)), '}],"days":[',
        arrayStringConcat(arrayMap(d -> concat('{"date":"', toString(toDate(pickup) + d), '","amount":', coins(price), '}'), range(days)), ','),
        '],"steps":["', repeat('a step of the price in words","', 20), '"]},"notes":"', repeat('what was said ', 20), '"}')
FROM numbers(55000)
SETTINGS max_insert_block_size = 16384, max_block_size = 16384, min_insert_block_size_rows = 16384
