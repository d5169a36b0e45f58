-- steps: 10
-- 730,000 trips in each of nine years, and 4 million in the last one.
INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, device, start_lat, start_lng, end_lat, end_lng, distance_m,
    distance_estimated_m, moving_s, unrecorded_s, unrecorded, idle_s, max_speed_mps, closed_reason, body)
WITH if({step:UInt32} = 9, 803, 146) AS each, 1 + number % 5000 AS v, intDiv(number, 5000) AS i, cityHash64(number, {step:UInt32}) AS h,
    toDateTime64(makeDate32(2020 + {step:UInt32}, 1, 1), 3, 'UTC') + toIntervalSecond(intDiv(i * 31449600, each) + h % 20000) AS began,
    600 + intDiv(h, 7) % 3000 AS lasts, 1000 + intDiv(h, 11) % 50000 AS metres, h % 200 = 0 AS unseen
SELECT 7, v, h, 1, began, began + toIntervalSecond(lasts), toDate(began), began + 3600, v, 40.5 + v % 10 / 10, -80.5, 40.6 + v % 10 / 10, -80.6, metres,
    if(unseen, metres, if(h % 100 = 1, 500, 0)), lasts * 9 / 10, if(unseen, lasts, 0), unseen, lasts / 10, 10 + h % 30, 'parked', '{"fuel_used_l":2.5}'
FROM numbers(if({step:UInt32} = 9, 4015000, 730000))
