-- What each vehicle of an account earned and cost in a span of local days, in one currency, with the days that it was billed in it, the seconds that it was rented and
-- rentable, and how many days of it are known. EXPLAIN indexes=1: the account and the days by the key and the months.
SELECT d.vehicle AS vehicle, t.license_plate, t.nickname, t.make, t.model, t.class AS class, d.first_day, d.days, d.billed_days, d.rented_s, d.rentable_s,
    d.rental_revenue, d.revenue, d.platform_fees, d.energy, d.maintenance, d.other_variable, d.toll_recharge, d.depreciation, d.finance, d.insurance, d.other_fixed
FROM
(
    SELECT vehicle, toInt32(min(local_date)) AS first_day, toInt64(uniqExact(local_date)) AS days, toInt64(sumIf(billed_days, mine)) AS billed_days,
        toInt64(sum(rented_s)) AS rented_s, sum(toInt64(fleet_s) - toInt64(down_s)) AS rentable_s,
        sumIf(revenue_time + revenue_mileage + discounts, mine) AS rental_revenue, sumIf(revenue, mine) AS revenue, sumIf(platform_fees, mine) AS platform_fees,
        sumIf(cost_energy, mine) AS energy, sumIf(cost_maintenance, mine) AS maintenance, sumIf(cost_other_variable, mine) AS other_variable,
        sumIf(toll_recharge, mine) AS toll_recharge, sumIf(cost_depreciation, mine) AS depreciation, sumIf(cost_finance, mine) AS finance,
        sumIf(cost_insurance, mine) AS insurance, sumIf(cost_other_fixed, mine) AS other_fixed
    FROM
    (
        SELECT *, revenue, currency = {currency:String} AS mine
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND vehicle != 0
    )
    GROUP BY vehicle
    HAVING sum(fleet_s) > 0 OR countIf(mine) > 0
) AS d
LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = d.vehicle
ORDER BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1
