-- The mileages of given vehicles; wanted is an external table of (account, vehicle).
SELECT account, vehicle, time, raw_m, base_m, before_m
FROM vehicle_mileage FINAL
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
