-- Sums of vehicle_days by the key of a group: of time, of vehicles, or of what vehicles are now. A part of reports, which
-- take the columns that they need; the others are not read. Money is of one currency, all else of all. Miles are summed
-- as whole metres, so that the sum does not depend on the order. FINAL within the months, which are the parts of the
-- table. EXPLAIN indexes=1: vehicle_days by account and local_date.
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ifNull(keys.key, '')))) AS key,
    sum(days.day_s) AS day_s, sum(days.fleet_s) AS fleet_s, sum(days.down_s) AS down_s, sum(days.rented_s) AS rented_s,
    sum(days.idle_s) AS idle_s, sum(days.billed_days) AS billed_days, sum(days.driven_m) AS driven_m,
    sum(days.rented_m) AS rented_m, sum(days.fuel_ml) AS fuel_ml, sum(days.energy_wh) AS energy_wh,
    sum(days.revenue_time) AS revenue_time, sum(days.revenue_mileage) AS revenue_mileage,
    sum(days.revenue_extras) AS revenue_extras, sum(days.revenue_protection) AS revenue_protection,
    sum(days.revenue_fees) AS revenue_fees, sum(days.revenue_damage) AS revenue_damage, sum(days.discounts) AS discounts,
    sum(days.refunds) AS refunds, sum(days.toll_recharge) AS toll_recharge, sum(days.platform_fees) AS platform_fees,
    sum(days.cost_energy) AS cost_energy, sum(days.cost_maintenance) AS cost_maintenance,
    sum(days.cost_other_variable) AS cost_other_variable, sum(days.cost_depreciation) AS cost_depreciation,
    sum(days.cost_finance) AS cost_finance, sum(days.cost_insurance) AS cost_insurance,
    sum(days.cost_other_fixed) AS cost_other_fixed
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sum(d.day_s) AS day_s, sum(d.fleet_s) AS fleet_s, sum(d.down_s) AS down_s, sum(d.rented_s) AS rented_s,
        sum(d.idle_s) AS idle_s, sum(d.billed_days) AS billed_days, sum(toInt64(round(d.driven_m))) AS driven_m,
        sum(toInt64(round(d.rented_m))) AS rented_m, sum(toInt64(round(d.fuel_l * 1000))) AS fuel_ml,
        sum(toInt64(round(d.energy_kwh * 1000))) AS energy_wh,
        sumIf(d.revenue_time, d.currency = {currency:String}) AS revenue_time,
        sumIf(d.revenue_mileage, d.currency = {currency:String}) AS revenue_mileage,
        sumIf(d.revenue_extras, d.currency = {currency:String}) AS revenue_extras,
        sumIf(d.revenue_protection, d.currency = {currency:String}) AS revenue_protection,
        sumIf(d.revenue_fees, d.currency = {currency:String}) AS revenue_fees,
        sumIf(d.revenue_damage, d.currency = {currency:String}) AS revenue_damage,
        sumIf(d.discounts, d.currency = {currency:String}) AS discounts,
        sumIf(d.refunds, d.currency = {currency:String}) AS refunds,
        sumIf(d.toll_recharge, d.currency = {currency:String}) AS toll_recharge,
        sumIf(d.platform_fees, d.currency = {currency:String}) AS platform_fees,
        sumIf(d.cost_energy, d.currency = {currency:String}) AS cost_energy,
        sumIf(d.cost_maintenance, d.currency = {currency:String}) AS cost_maintenance,
        sumIf(d.cost_other_variable, d.currency = {currency:String}) AS cost_other_variable,
        sumIf(d.cost_depreciation, d.currency = {currency:String}) AS cost_depreciation,
        sumIf(d.cost_finance, d.currency = {currency:String}) AS cost_finance,
        sumIf(d.cost_insurance, d.currency = {currency:String}) AS cost_insurance,
        sumIf(d.cost_other_fixed, d.currency = {currency:String}) AS cost_other_fixed
    FROM vehicle_days AS d FINAL
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))
    GROUP BY began, car
) AS days
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = days.car
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
