-- What vehicles of each class brought and cost for a billed day, by day of the week (1 is Monday): time, mileage and discounts, billed days, and variable cost.
-- EXPLAIN indexes=1: the account and the days by the key and the months.
SELECT t.class AS class, toUInt8(toDayOfWeek(d.local_date)) AS weekday, sum(d.revenue_time + d.revenue_mileage + d.discounts) AS revenue,
    toInt64(sum(d.billed_days)) AS billed, sum(d.variable_cost + d.platform_fees) AS cost
FROM
(
    SELECT vehicle, local_date, sum(if(currency = {currency:String}, revenue_time, 0)) AS revenue_time, sum(if(currency = {currency:String}, revenue_mileage, 0)) AS revenue_mileage,
        sum(if(currency = {currency:String}, discounts, 0)) AS discounts, sumIf(billed_days, currency = {currency:String}) AS billed_days,
        sum(if(currency = {currency:String}, variable_cost, 0)) AS variable_cost, sum(if(currency = {currency:String}, platform_fees, 0)) AS platform_fees
    FROM vehicle_days FINAL
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND vehicle != 0
    GROUP BY vehicle, local_date
) AS d
LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = d.vehicle
GROUP BY class, weekday
ORDER BY class, weekday
SETTINGS do_not_merge_across_partitions_select_final = 1
