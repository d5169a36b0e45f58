-- Audit: vehicle_months against vehicle_days, whose sums they are, by vehicle, month, currency and measure. Distances are in millimetres,
-- fuel in millilitres and energy in watt-hours, of which a day has a whole number; all else is as in the tables. EXPLAIN indexes=1:
-- everything is read.
WITH
    ['day_s', 'fleet_s', 'down_s', 'rented_s', 'idle_s', 'billed_days', 'driven_mm', 'rented_mm', 'fuel_ml', 'energy_wh', 'revenue_time',
        'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds', 'toll_recharge',
        'platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'cost_depreciation', 'cost_finance', 'cost_insurance',
        'cost_other_fixed'] AS names
SELECT account, compared.1 AS what, concat(toString(month), ' ', if(vehicle = 0, 'no vehicle', concat('veh_', toString(vehicle))), ' ', unit) AS key,
    'vehicle' AS kind, vehicle AS id, toString(month) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, month, vehicle, unit, arrayResize(sumForEachIf(amounts, NOT summed), length(names)) AS of_days,
        arrayResize(sumForEachIf(amounts, summed), length(names)) AS of_month
    FROM
    (
        SELECT summed, account, month, vehicle, CAST(currency, 'String') AS unit,
            [toInt64(day_s), toInt64(fleet_s), toInt64(down_s), toInt64(rented_s), toInt64(idle_s), toInt64(billed_days),
                toInt64(round(driven_m * 1000)), toInt64(round(rented_m * 1000)), toInt64(round(fuel_l * 1000)), toInt64(round(energy_kwh * 1000)),
                revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds, toll_recharge,
                platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation, cost_finance, cost_insurance,
                cost_other_fixed] AS amounts
        FROM
        (
            SELECT false AS summed, makeDate32(toYear(local_date), toMonth(local_date), 1) AS month, * EXCEPT (local_date, computed_at) FROM vehicle_days FINAL
            UNION ALL
            SELECT true, month, * EXCEPT (month, computed_at, driven_days, fuelled_m, days_known, rented_by_day, rentable_by_day, billed_by_day,
                sold_by_day, running_by_day)
            FROM vehicle_months FINAL
        )
    )
    GROUP BY account, month, vehicle, unit
    HAVING of_days != of_month
)
ARRAY JOIN arrayZip(names, of_days, of_month) AS compared
WHERE expected != found
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
