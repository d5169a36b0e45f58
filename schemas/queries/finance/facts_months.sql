-- Makes the months of vehicle_days from the month of one local date to that of another, of an account's vehicles, those in
-- vehicles unless it is empty. EXPLAIN indexes=1: vehicle_days by account and date.
INSERT INTO vehicle_months (account, month, vehicle, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s,
    billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time, revenue_mileage, revenue_extras,
    revenue_protection, revenue_fees, revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy,
    cost_maintenance, cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed, driven_days,
    fuelled_m, days_known, rented_by_day, rentable_by_day, billed_by_day, sold_by_day, running_by_day)
WITH toUInt32(toDayOfMonth(local_date) - 1) AS nth
SELECT account, makeDate32(toYear(local_date), toMonth(local_date), 1) AS month, vehicle, currency, now64(3, 'UTC'),
    sum(day_s), sum(fleet_s), sum(down_s), sum(rented_s), sum(idle_s), sum(billed_days), sum(driven_m),
    sum(rented_m), sum(fuel_l), sum(energy_kwh), sum(revenue_time), sum(revenue_mileage), sum(revenue_extras),
    sum(revenue_protection), sum(revenue_fees), sum(revenue_damage), sum(discounts), sum(refunds),
    sum(toll_recharge), sum(platform_fees), sum(cost_energy), sum(cost_maintenance), sum(cost_other_variable),
    sum(cost_depreciation), sum(cost_finance), sum(cost_insurance), sum(cost_other_fixed), countIf(driven_m > 0),
    sumIf(driven_m, fuel_l > 0),
    groupBitOr(bitShiftLeft(toUInt32(1), nth)), groupArrayInsertAt(0, 31)(rented_s, nth),
    groupArrayInsertAt(0, 31)(toInt64(fleet_s) - toInt64(down_s), nth),
    groupArrayInsertAt(0, 31)(billed_days, nth),
    groupArrayInsertAt(0, 31)(revenue_time + revenue_mileage + discounts, nth),
    groupArrayInsertAt(0, 31)(variable_cost + platform_fees, nth)
FROM vehicle_days FINAL
WHERE account = {account:UInt64}
    AND local_date >= makeDate32(toYear({from:Date32}), toMonth({from:Date32}), 1)
    AND local_date <= toLastDayOfMonth({to:Date32})
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY account, month, vehicle, currency
