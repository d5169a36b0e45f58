-- Audit: vehicle_months against vehicle_days, of which they are made as facts_months says, by vehicle, month, currency and measure; what
-- months have for each day bears its number in the month. Distances are in millimetres, fuel in millilitres and energy in watt-hours, of
-- which a day has a whole number; all else is as in the tables. EXPLAIN indexes=1: everything is read.
WITH
    arrayConcat(['day_s', 'fleet_s', 'down_s', 'rented_s', 'idle_s', 'billed_days', 'driven_mm', 'rented_mm', 'fuel_ml', 'energy_wh',
            'revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds',
            'toll_recharge', 'platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'cost_depreciation', 'cost_finance',
            'cost_insurance', 'cost_other_fixed', 'driven_days', 'fuelled_mm', 'days_known'],
        arrayFlatten(arrayMap(measure -> arrayMap(n -> concat(measure, ' ', toString(n)), range(1, 32)),
            ['rented_by_day', 'rentable_by_day', 'billed_by_day', 'sold_by_day', 'running_by_day']))) AS names
SELECT account, compared.1 AS what, concat(toString(month), ' ', if(vehicle = 0, 'no vehicle', concat('veh_', toString(vehicle))), ' ', unit) AS key,
    'vehicle' AS kind, vehicle AS id, toString(month) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, month, vehicle, unit, arrayResize(sumForEachIf(amounts, NOT summed), length(names)) AS of_days,
        arrayResize(sumForEachIf(amounts, summed), length(names)) AS of_month
    FROM
    (
        SELECT false AS summed, account, makeDate32(toYear(local_date), toMonth(local_date), 1) AS month, vehicle,
            CAST(currency, 'String') AS unit,
            arrayConcat(sumForEach([toInt64(day_s), toInt64(fleet_s), toInt64(down_s), toInt64(rented_s), toInt64(idle_s),
                    toInt64(billed_days), toInt64(round(driven_m * 1000)), toInt64(round(rented_m * 1000)), toInt64(round(fuel_l * 1000)),
                    toInt64(round(energy_kwh * 1000)), revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees,
                    revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
                    cost_depreciation, cost_finance, cost_insurance, cost_other_fixed, toInt64(driven_m > 0),
                    if(fuel_l > 0, toInt64(round(driven_m * 1000)), 0), bitShiftLeft(toInt64(1), nth)]),
                groupArrayInsertAt(0, 31)(toInt64(rented_s), nth), groupArrayInsertAt(0, 31)(toInt64(fleet_s) - toInt64(down_s), nth),
                groupArrayInsertAt(0, 31)(toInt64(billed_days), nth),
                groupArrayInsertAt(0, 31)(revenue_time + revenue_mileage + discounts, nth),
                groupArrayInsertAt(0, 31)(variable_cost + platform_fees, nth)) AS amounts
        FROM (SELECT *, variable_cost, toUInt32(toDayOfMonth(local_date) - 1) AS nth FROM vehicle_days FINAL)
        GROUP BY account, month, vehicle, unit
        UNION ALL
        SELECT true, account, month, vehicle, CAST(currency, 'String'),
            arrayConcat([toInt64(day_s), toInt64(fleet_s), toInt64(down_s), toInt64(rented_s), toInt64(idle_s), toInt64(billed_days),
                    toInt64(round(driven_m * 1000)), toInt64(round(rented_m * 1000)), toInt64(round(fuel_l * 1000)),
                    toInt64(round(energy_kwh * 1000)), revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees,
                    revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
                    cost_depreciation, cost_finance, cost_insurance, cost_other_fixed, toInt64(driven_days),
                    toInt64(round(fuelled_m * 1000)), toInt64(days_known)],
                arrayResize(rented_by_day, 31), arrayResize(rentable_by_day, 31), arrayResize(billed_by_day, 31),
                arrayResize(sold_by_day, 31), arrayResize(running_by_day, 31))
        FROM vehicle_months FINAL
    )
    GROUP BY account, month, vehicle, unit
    HAVING of_days != of_month
)
ARRAY JOIN arrayZip(names, of_days, of_month) AS compared
WHERE expected != found
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
