-- The vehicles of an account of which anything was ever reported, each with what its devices said of its odometer last; time
-- is 1970 where they said nothing of that.
SELECT vehicle, max(time), max((toUInt64(raw_m) + base_m) / 1609.344)
FROM
(
    SELECT vehicle, time, raw_m, base_m FROM vehicle_mileage FINAL WHERE account = {account:UInt64}
    UNION ALL
    SELECT DISTINCT vehicle, toDateTime64(0, 3, 'UTC'), toUInt32(0), toUInt32(0) FROM vehicle_state WHERE account = {account:UInt64}
    UNION ALL
    SELECT DISTINCT vehicle, toDateTime64(0, 3, 'UTC'), toUInt32(0), toUInt32(0) FROM trips WHERE account = {account:UInt64}
)
GROUP BY vehicle
