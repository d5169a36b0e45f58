-- The months, each by its first day, in which anything was driven, charged or visited, by trips, charges and visits, in whatever zone, or by the facts.
-- EXPLAIN indexes=1: the columns of times and days are read whole.
SELECT DISTINCT toString(month) AS month
FROM
(
    SELECT DISTINCT toStartOfMonth(start_at - INTERVAL 1 DAY) AS first, toStartOfMonth(end_at + INTERVAL 1 DAY) AS last FROM trips
    UNION ALL
    SELECT DISTINCT toStartOfMonth(start_at - INTERVAL 1 DAY), toStartOfMonth(start_at + INTERVAL 1 DAY) FROM charges
    UNION ALL
    SELECT DISTINCT toStartOfMonth(start_at - INTERVAL 1 DAY), toStartOfMonth(end_at + INTERVAL 1 DAY) FROM visits
    UNION ALL
    SELECT DISTINCT toStartOfMonth(local_date), toStartOfMonth(local_date) FROM geofence_days WHERE stays > 0
    UNION ALL
    SELECT DISTINCT toStartOfMonth(local_date), toStartOfMonth(local_date) FROM vehicle_days WHERE driven_m != 0 OR fuel_l != 0 OR energy_kwh != 0
)
ARRAY JOIN arrayMap(n -> addMonths(first, n), range(toUInt64(dateDiff('month', first, last) + 1))) AS month
ORDER BY month
