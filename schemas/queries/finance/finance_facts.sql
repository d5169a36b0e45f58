-- Sums by the key of a group, from the facts of vehicles where they know the answer, else from the entries of the ledger:
-- facts know no channel, no customer and no cash basis. Of the two one reads nothing, as its condition is
-- constant. Seconds and days of rentals are of those in the currency, as money is. driven_m and fleet_s are null where
-- they are of no group; {by} is the group of the question, also of
-- its totals. A part of reports. EXPLAIN indexes=1: as in
-- vehicle_facts.sql and entry_facts.sql.
WITH {basis:String} = 'cash' OR {by:String} IN ('channel', 'customer') OR notEmpty({channels:Array(String)})
    OR notEmpty({customers:Array(UInt64)}) AS of_entries
/*if of_facts*/SELECT
    key, money_s AS rented_s, money_days AS billed_days, revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees,
    revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance,
    cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed,
    toNullable(fleet_s) AS fleet_s, toNullable(down_s) AS down_s, toNullable(driven_m) AS driven_m,
    toInt64(0) AS received, toInt64(0) AS paid, toInt64(0) AS capital
FROM (/*query vehicle_facts*/)
WHERE NOT of_entries/*end of_facts*/
/*if of_both*/UNION ALL/*end of_both*/
/*if of_entries*/SELECT
    key, rented_s, billed_days, revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees,
    revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance,
    cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed,
    CAST(NULL, 'Nullable(UInt64)') AS fleet_s, CAST(NULL, 'Nullable(UInt64)') AS down_s, CAST(NULL, 'Nullable(Float64)') AS driven_m,
    received, paid, capital
FROM (/*query entry_facts*/)
WHERE of_entries/*end of_entries*/
