-- What vehicles of each class had on each local day of the past: seconds on rent and rentable seconds. The class is the one that a vehicle is in now.
-- EXPLAIN indexes=1: the account and the months by the key and the years, vehicles by account.
SELECT class, toInt32(toInt32(month) + nth - 1) AS day, toInt64(rented) AS rented_s, rentable AS rentable_s
FROM
(
    SELECT t.class AS class, m.month AS month, groupBitOr(m.days_known) AS known, sumForEach(m.rented_by_day) AS rented_by_day,
        sumForEach(m.rentable_by_day) AS rentable_by_day
    FROM vehicle_months AS m FINAL
    LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = m.vehicle
    WHERE m.account = {account:UInt64} AND m.month > addMonths({from:Date32}, -1) AND m.month <= {to:Date32} AND m.vehicle != 0
    GROUP BY class, month
)
ARRAY JOIN rented_by_day AS rented, rentable_by_day AS rentable, arrayEnumerate(rented_by_day) AS nth
WHERE bitTest(known, nth - 1) AND day BETWEEN toInt32({from:Date32}) AND toInt32({to:Date32})
ORDER BY class, day
SETTINGS do_not_merge_across_partitions_select_final = 1
