-- steps: 1
-- 100,000 blocks of half a day to two.
INSERT INTO blocks (account, id, revision, created_at, updated_at, body)
WITH 1 + number % 5000 AS v, toDateTime64('2020-01-20 08:00:00', 3, 'UTC') + toIntervalDay(intDiv(number, 5000) * 180 + number % 150) AS began
SELECT 7, bitShiftLeft(toUInt64(toUnixTimestamp64Milli(began)) - 1577836800000, 22) + number, 1, began, began,
    concat('{"vehicle_id":"veh_', toString(v), '","kind":"maintenance","from":"', formatDateTime(began, '%FT%TZ'), '","until":"',
        formatDateTime(began + toIntervalHour(12 + number % 36), '%FT%TZ'), '"}')
FROM numbers(100000)
