-- What vehicles of each class brought and cost for a billed day, by day of the week (1 is Monday): time, mileage and discounts, billed days, and variable cost.
-- The class is the one that a vehicle is in now. EXPLAIN indexes=1: the account and the months by the key and the years, vehicles by account.
SELECT class, toUInt8(toDayOfWeek(day)) AS weekday, sum(sold) AS revenue, toInt64(sum(billed)) AS billed_days, sum(running) AS cost
FROM
(
    SELECT t.class AS class, m.month AS month, arrayResize(sumForEach(if(m.currency = {currency:String}, m.billed_by_day, [])), 31) AS billed_by_day,
        arrayResize(sumForEach(if(m.currency = {currency:String}, m.sold_by_day, [])), 31) AS sold_by_day,
        arrayResize(sumForEach(if(m.currency = {currency:String}, m.running_by_day, [])), 31) AS running_by_day
    FROM vehicle_months AS m FINAL
    LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = m.vehicle
    WHERE m.account = {account:UInt64} AND m.month > addMonths({from:Date32}, -1) AND m.month <= {to:Date32} AND m.vehicle != 0
    GROUP BY class, month
)
ARRAY JOIN billed_by_day AS billed, sold_by_day AS sold, running_by_day AS running, arrayMap(i -> addDays(month, i), range(31)) AS day
WHERE day BETWEEN {from:Date32} AND least({to:Date32}, toLastDayOfMonth(month))
GROUP BY class, weekday
ORDER BY class, weekday
SETTINGS do_not_merge_across_partitions_select_final = 1
