-- Adds up vehicle_days of an account, of every one for 0, from one local date to another over all its vehicles. What
-- they run on is what they run on now: where that changes, all days of the vehicle are made again (facts_changed). Added
-- up are whole millimetres, millilitres and watt-hours, so that sums do not depend on the order; each row counts before
-- those that stand, whatever the clock says. EXPLAIN indexes=1: vehicle_days and fleet_days by account and date.
INSERT INTO fleet_days (account, local_date, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s,
    billed_days, driven_m, rented_m, fuel_l, energy_kwh, driven_days, fuelled_m, electric_m, electric_kwh,
    revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts,
    refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed)
WITH (
        SELECT max(computed_at) FROM fleet_days
        WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND local_date BETWEEN {from:Date32} AND {to:Date32}
    ) AS stands,
    (account, vehicle) IN (
        SELECT account, vehicle FROM vehicle_traits
        WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND fuel_type = 'electric'
    ) AS electric
SELECT account, local_date, currency, greatest(now64(3, 'UTC'), stands + INTERVAL 1 MILLISECOND),
    sum(day_s), sum(fleet_s), sum(down_s), sum(rented_s), sum(idle_s), sum(billed_days),
    sum(toInt64(round(driven_m * 1000))) / 1000, sum(toInt64(round(rented_m * 1000))) / 1000,
    sum(toInt64(round(fuel_l * 1000))) / 1000, sum(toInt64(round(energy_kwh * 1000))) / 1000,
    countIf(driven_m > 0), sumIf(toInt64(round(driven_m * 1000)), fuel_l > 0) / 1000,
    sumIf(toInt64(round(driven_m * 1000)), electric) / 1000, sumIf(toInt64(round(energy_kwh * 1000)), electric) / 1000,
    sum(revenue_time), sum(revenue_mileage), sum(revenue_extras), sum(revenue_protection), sum(revenue_fees), sum(revenue_damage),
    sum(discounts), sum(refunds), sum(toll_recharge), sum(platform_fees), sum(cost_energy), sum(cost_maintenance),
    sum(cost_other_variable), sum(cost_depreciation), sum(cost_finance), sum(cost_insurance), sum(cost_other_fixed)
FROM vehicle_days FINAL
WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND local_date BETWEEN {from:Date32} AND {to:Date32}
GROUP BY account, local_date, currency
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
