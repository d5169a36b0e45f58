-- Audit: fleet_days against vehicle_days, of which they are made as facts_fleet_days says, by day, currency and measure.
-- Units are those of audit_months. Nothing is compared until all facts are made by this version of the program, if it ever
-- looked. What electric vehicles drove and took is left out for an account with a vehicle whose fuel_type was changed since {until}.
-- EXPLAIN indexes=1: everything is read, and record_log by at_minmax and by key.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete,
    refitted AS
    (
        SELECT account FROM record_log INNER JOIN
        (
            SELECT account, id, min(revision) AS newer FROM record_log
            WHERE kind = 'vehicle' AND at >= fromUnixTimestamp64Milli({until:Int64}, 'UTC') GROUP BY account, id
        ) AS changed USING (account, id)
        WHERE kind = 'vehicle' AND revision + 1 >= newer
            AND (account, id) IN (SELECT account, id FROM record_log WHERE kind = 'vehicle' AND at >= fromUnixTimestamp64Milli({until:Int64}, 'UTC'))
        GROUP BY account, id
        HAVING uniqExact(JSONExtractString(body, 'fuel_type')) > 1
    ),
    ['day_s', 'fleet_s', 'down_s', 'rented_s', 'idle_s', 'billed_days', 'driven_mm', 'rented_mm', 'fuel_ml', 'energy_wh', 'driven_days', 'fuelled_mm',
        'electric_mm', 'electric_wh', 'revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds', 'toll_recharge',
        'platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'cost_depreciation', 'cost_finance', 'cost_insurance',
        'cost_other_fixed'] AS names
SELECT account, concat('fleet ', compared.1) AS what, concat(toString(local_date), ' ', unit) AS key, '' AS kind, toUInt64(0) AS id,
    toString(local_date) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, local_date, unit, arrayResize(sumForEachIf(amounts, NOT summed), length(names)) AS of_vehicles,
        arrayResize(sumForEachIf(amounts, summed), length(names)) AS of_fleet
    FROM
    (
        SELECT summed, account, local_date, CAST(currency, 'String') AS unit,
            [toInt64(day_s), toInt64(fleet_s), toInt64(down_s), toInt64(rented_s), toInt64(idle_s), toInt64(billed_days),
                toInt64(round(driven_m * 1000)), toInt64(round(rented_m * 1000)), toInt64(round(fuel_l * 1000)),
                toInt64(round(energy_kwh * 1000)), toInt64(driven_days), toInt64(round(fuelled_m * 1000)),
                if(account IN refitted, 0, toInt64(round(electric_m * 1000))), if(account IN refitted, 0, toInt64(round(electric_kwh * 1000))),
                revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds,
                toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation, cost_finance,
                cost_insurance, cost_other_fixed] AS amounts
        FROM
        (
            SELECT false AS summed, account, local_date, currency, toUInt64(day_s) AS day_s, toUInt64(fleet_s) AS fleet_s,
                toUInt64(down_s) AS down_s, toUInt64(rented_s) AS rented_s, toUInt64(idle_s) AS idle_s, toUInt64(billed_days) AS billed_days,
                driven_m, rented_m, fuel_l, energy_kwh, toUInt64(driven_m > 0) AS driven_days, if(fuel_l > 0, driven_m, 0.) AS fuelled_m,
                if(is_electric, driven_m, 0.) AS electric_m, if(is_electric, energy_kwh, 0.) AS electric_kwh,
                revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees,
                revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
                cost_depreciation, cost_finance, cost_insurance, cost_other_fixed
            FROM (SELECT *, (account, vehicle) IN (SELECT account, vehicle FROM vehicle_traits WHERE fuel_type = 'electric') AS is_electric
                FROM vehicle_days FINAL WHERE complete)
            UNION ALL
            SELECT true, account, local_date, currency, day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l,
                energy_kwh, driven_days, fuelled_m, electric_m, electric_kwh, revenue_time, revenue_mileage, revenue_extras, revenue_protection,
                revenue_fees, revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation, cost_finance,
                cost_insurance, cost_other_fixed
            FROM fleet_days FINAL
            WHERE complete
        )
    )
    GROUP BY account, local_date, unit
    HAVING of_vehicles != of_fleet
)
ARRAY JOIN arrayZip(names, of_vehicles, of_fleet) AS compared
WHERE expected != found
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
