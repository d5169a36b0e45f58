-- steps: 10
-- What each rental had of its vehicle on each day, a year after the other.
INSERT INTO rental_days (account, local_date, booking, computed_at, vehicle, class, customer, location, channel, status, rented_s, billed_days, spells)
WITH toUnixTimestamp(actual_pickup_at) AS begins, toUnixTimestamp(if(status = 'completed', actual_return_at, toDateTime64('2030-01-01', 3, 'UTC'))) AS ends
SELECT 7, toDate32(day), id, updated_at, leg_vehicles[-1], toUInt64(substring(vehicle_class_id, 5)), toUInt64(substring(customer_id, 5)),
    toUInt64(substring(pickup_location_id, 5)), channel, status,
    least(ends, day * 86400 + 86400) - greatest(begins, day * 86400), has(JSONExtract(body, 'rate_snapshot', 'days', 'Array(Tuple(date String))').date, toString(toDate32(day))),
    [(toInt64(greatest(begins, day * 86400)), toInt64(least(ends, day * 86400 + 86400)))]
FROM bookings
ARRAY JOIN range(intDiv(begins, 86400), intDiv(ends - 1, 86400) + 1) AS day
WHERE account = 7 AND status IN ('active', 'completed') AND toYear(pickup_at) = 2020 + {step:UInt32}
