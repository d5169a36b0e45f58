-- The mileages of given vehicles.
-- External: wanted (account UInt64, vehicle UInt64)
SELECT account, vehicle, time, raw_m, base_m, before_m
FROM vehicle_mileage FINAL
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
