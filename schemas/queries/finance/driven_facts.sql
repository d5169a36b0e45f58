-- Sums of what vehicle_days say of driving, fuel and energy by the key of a group. A part of reports, as vehicle_facts is,
-- with what that has not: the miles of days on which fuel is known, the miles and energy of
-- electric vehicles, and the days on which a vehicle moved.
-- EXPLAIN indexes=1: vehicle_days by the months of the span and the account.
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ifNull(keys.key, '')))) AS key,
    sum(d.driven_m) AS driven_m, sum(d.rented_m) AS rented_m, sum(d.driven_days) AS driven_days, sum(d.fuel_ml) AS fuel_ml,
    sum(d.energy_wh) AS energy_wh, sum(d.fuelled_m) AS fuelled_m, sum(d.electric_m) AS electric_m,
    sum(d.electric_wh) AS electric_wh, sum(d.cost_energy) AS cost_energy
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sum(toInt64(round(f.driven_m))) AS driven_m, sum(toInt64(round(f.rented_m))) AS rented_m, countIf(f.driven_m > 0) AS driven_days,
        sum(toInt64(round(f.fuel_l * 1000))) AS fuel_ml, sum(toInt64(round(f.energy_kwh * 1000))) AS energy_wh,
        sumIf(toInt64(round(f.driven_m)), f.fuel_l > 0) AS fuelled_m, sumIf(toInt64(round(f.driven_m)), electric) AS electric_m,
        sumIf(toInt64(round(f.energy_kwh * 1000)), electric) AS electric_wh,
        sumIf(f.cost_energy, f.currency = {currency:String}) AS cost_energy
    FROM (
        SELECT *, vehicle IN (SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type = 'electric') AS electric
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND vehicle IN (/*query vehicles_chosen*/)
    ) AS f
    GROUP BY began, car
) AS d
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
