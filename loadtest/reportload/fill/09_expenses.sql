-- steps: 10
-- Of each vehicle and month depreciation, insurance and fuel, and in each third month something of the workshop; in the
-- first month the purchase. A year after the other.
INSERT INTO expenses (account, id, revision, created_at, updated_at, status, category, vehicle_id, booking_id, vendor, description, amount, tax,
    currency, incurred_on, external_ids, scheduled_by, schedule, body)
WITH intDiv(number, 5) % 5000 + 1 AS v, intDiv(number, 25000) AS month, number % 5 AS sort, cityHash64(v, month, {step:UInt32}) AS h,
    toDate(makeDate32(2020 + {step:UInt32}, month + 1, if(sort < 2, 1, 1 + h % 28))) AS day,
    ['depreciation', 'insurance', 'fuel', ['maintenance', 'repair', 'tires'][1 + h % 3], 'vehicle_purchase'][sort + 1] AS what,
    [16000, 9000, toInt64(3000 + h % 9000), toInt64(5000 + h % 50000), 3000000][sort + 1] AS minor
SELECT 7, bitShiftLeft(toUInt64(toUnixTimestamp(day)) * 1000 - 1577836800000, 22) + number, 1, toDateTime64(day, 3, 'UTC'), toDateTime64(day, 3, 'UTC'), 'posted', what,
    concat('veh_', toString(v)), '', '', '', minor, 0, if(1 + intDiv(v, 20) % 12 = 12 AND sort IN (2, 3), 'EUR', 'USD'), toString(day), [], if(sort < 2, concat('veh_', toString(v)), ''),
    if(sort < 2, what, ''), concat('{"category":"', what, '","vehicle_id":"veh_', toString(v), '","incurred_on":"', toString(day), '"}')
FROM numbers(300000)
WHERE sort < 3 OR sort = 3 AND (v + month) % 3 = 0 OR sort = 4 AND {step:UInt32} = 0 AND month = 0
