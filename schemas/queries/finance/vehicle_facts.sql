-- Sums of vehicle_days by the key of a group: of time, of vehicles, or of what vehicles are now. A part of reports,
-- which take the columns that they need; the others are not read. Money is of one currency, and so are money_s and
-- money_days, the seconds and billed days of the rentals in it, over which money is divided; all else is of all. By
-- time and in all days of the whole fleet are read (fleet_days), unless some vehicles are meant. Else whole months of
-- the span are read from vehicle_months, its edges from vehicle_days; by day and week all of it is. FINAL within the
-- parts, which are months and years. EXPLAIN indexes=1: vehicle_days and fleet_days by account and local_date,
-- vehicle_months by account and month.
WITH
    if(toDayOfMonth({from:Date32}) = 1, {from:Date32}, toDate32(addMonths(makeDate32(toYear({from:Date32}), toMonth({from:Date32}), 1), 1))) AS whole_from,
    makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AS whole_until,
    {group:String} IN ('day', 'week') AS by_days,
    {group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year') AND empty({vehicles:Array(UInt64)})
        /*if chosen*/AND empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
        AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})/*end chosen*/ AS of_fleet
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/))) AS key,
    sum(days.day_s) AS day_s, sum(days.fleet_s) AS fleet_s, sum(days.down_s) AS down_s,
    sum(days.rented_s) AS rented_s, sum(days.idle_s) AS idle_s, sum(days.billed_days) AS billed_days,
    sum(days.money_s) AS money_s, sum(days.money_days) AS money_days, sum(days.driven_m) AS driven_m, sum(days.rented_m) AS rented_m, sum(days.fuel_l) AS fuel_l,
    sum(days.energy_kwh) AS energy_kwh, sum(days.revenue_time) AS revenue_time,
    sum(days.revenue_mileage) AS revenue_mileage, sum(days.revenue_extras) AS revenue_extras,
    sum(days.revenue_protection) AS revenue_protection, sum(days.revenue_fees) AS revenue_fees,
    sum(days.revenue_damage) AS revenue_damage, sum(days.discounts) AS discounts, sum(days.refunds) AS refunds,
    sum(days.toll_recharge) AS toll_recharge, sum(days.platform_fees) AS platform_fees,
    sum(days.cost_energy) AS cost_energy, sum(days.cost_maintenance) AS cost_maintenance,
    sum(days.cost_other_variable) AS cost_other_variable, sum(days.cost_depreciation) AS cost_depreciation,
    sum(days.cost_finance) AS cost_finance, sum(days.cost_insurance) AS cost_insurance,
    sum(days.cost_other_fixed) AS cost_other_fixed
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sum(d.day_s) AS day_s, sum(d.fleet_s) AS fleet_s, sum(d.down_s) AS down_s, sum(d.rented_s) AS rented_s,
        sum(d.idle_s) AS idle_s, sum(d.billed_days) AS billed_days, sum(d.driven_m) AS driven_m,
        sum(d.rented_m) AS rented_m, sum(d.fuel_l) AS fuel_l, sum(d.energy_kwh) AS energy_kwh,
        sumIf(d.rented_s, d.currency = {currency:String}) AS money_s,
        sumIf(d.billed_days, d.currency = {currency:String}) AS money_days,
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
    FROM (
        /*if of_fleet*/SELECT local_date AS since, toUInt64(0) AS vehicle, currency,
            day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh,
            revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage,
            discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
            cost_depreciation, cost_finance, cost_insurance, cost_other_fixed
        FROM fleet_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND of_fleet/*end of_fleet*/
        /*if of_both*/UNION ALL/*end of_both*/
        /*if of_vehicles*/SELECT local_date AS since, vehicle, currency,
            day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh,
            revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage,
            discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
            cost_depreciation, cost_finance, cost_insurance, cost_other_fixed
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (by_days OR local_date < whole_from OR local_date >= whole_until) AND NOT of_fleet
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        /*if by_longer*/UNION ALL
        SELECT month AS since, vehicle, currency,
            day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh,
            revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage,
            discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
            cost_depreciation, cost_finance, cost_insurance, cost_other_fixed
        FROM vehicle_months FINAL
        WHERE account = {account:UInt64} AND month >= whole_from AND month < whole_until AND NOT by_days AND NOT of_fleet
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*//*end by_longer*//*end of_vehicles*/
    ) AS d
    GROUP BY began, car
) AS days
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = days.car/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
