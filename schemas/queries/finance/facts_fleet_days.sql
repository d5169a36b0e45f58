-- Adds up vehicle_days of an account from one local date to another over all its vehicles. EXPLAIN indexes=1: vehicle_days by
-- account and date.
INSERT INTO fleet_days (account, local_date, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s,
    billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time, revenue_mileage, revenue_extras,
    revenue_protection, revenue_fees, revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy,
    cost_maintenance, cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed)
SELECT account, local_date, currency, now64(3, 'UTC'),
    sum(day_s), sum(fleet_s), sum(down_s), sum(rented_s), sum(idle_s), sum(billed_days), sum(driven_m), sum(rented_m),
    sum(fuel_l), sum(energy_kwh), sum(revenue_time), sum(revenue_mileage), sum(revenue_extras),
    sum(revenue_protection), sum(revenue_fees), sum(revenue_damage), sum(discounts), sum(refunds), sum(toll_recharge),
    sum(platform_fees), sum(cost_energy), sum(cost_maintenance), sum(cost_other_variable), sum(cost_depreciation),
    sum(cost_finance), sum(cost_insurance), sum(cost_other_fixed)
FROM vehicle_days FINAL
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
GROUP BY account, local_date, currency
SETTINGS do_not_merge_across_partitions_select_final = 1
