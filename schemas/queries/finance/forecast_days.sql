-- What vehicles of each class had on each local day of the past: seconds on rent and rentable seconds. The class is the one that a vehicle is in now.
-- EXPLAIN indexes=1: the account and the days by the key and the months.
SELECT t.class AS class, toInt32(d.local_date) AS day, toInt64(sum(d.rented_s)) AS rented_s, sum(toInt64(d.fleet_s) - toInt64(d.down_s)) AS rentable_s
FROM vehicle_days AS d FINAL
LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = d.vehicle
WHERE d.account = {account:UInt64} AND d.local_date BETWEEN {from:Date32} AND {to:Date32} AND d.vehicle != 0
GROUP BY class, day
ORDER BY class, day
SETTINGS do_not_merge_across_partitions_select_final = 1
