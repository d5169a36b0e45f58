-- Audit: the money of vehicle_days against the ledger, by vehicle, day of the books, currency and measure, of one month, in minor units. measures and
-- signs say for each account of the ledger in accounts the column that it is added to, and as what: revenue is a positive number.
-- Days with entries of records written since {until} are left out, and accounts of which no facts were ever made. EXPLAIN indexes=1: the
-- partitions of the month.
SELECT account, measure AS what, concat(toString(local_date), ' ', if(vehicle = 0, 'no vehicle', concat('veh_', toString(vehicle))), ' ', unit) AS key,
    'vehicle' AS kind, vehicle AS id, toString(local_date) AS day, sum(booked) AS expected, sum(stands) AS found
FROM
(
    SELECT account, local_date, vehicle, CAST(currency, 'String') AS unit,
        transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {measures:Array(String)}, '') AS measure,
        amount * transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {signs:Array(Int64)}, toInt64(0)) AS booked, toInt64(0) AS stands,
        occurred_at AS at
    FROM ledger_entries FINAL
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1) AND measure != ''
        AND account IN (SELECT DISTINCT account FROM vehicle_days)
    UNION ALL
    SELECT account, local_date, vehicle, CAST(currency, 'String'), column.1, 0, column.2, toDateTime64(0, 3, 'UTC')
    FROM vehicle_days FINAL
    ARRAY JOIN [
        ('revenue_time', revenue_time), ('revenue_mileage', revenue_mileage), ('revenue_extras', revenue_extras),
        ('revenue_protection', revenue_protection), ('revenue_fees', revenue_fees), ('revenue_damage', revenue_damage), ('discounts', discounts),
        ('refunds', refunds), ('toll_recharge', toll_recharge), ('platform_fees', platform_fees), ('cost_energy', cost_energy),
        ('cost_maintenance', cost_maintenance), ('cost_other_variable', cost_other_variable), ('cost_depreciation', cost_depreciation),
        ('cost_finance', cost_finance), ('cost_insurance', cost_insurance), ('cost_other_fixed', cost_other_fixed)] AS column
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1) AND column.2 != 0
)
GROUP BY account, local_date, vehicle, unit, measure
HAVING expected != found AND max(at) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
