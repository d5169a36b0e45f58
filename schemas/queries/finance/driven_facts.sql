-- Sums of what vehicle_days say of driving, fuel and energy by the key of a group. A part of reports, as vehicle_facts is,
-- with what that has not: the miles of days on which fuel is known, and the days on which a vehicle moved. By time and in all
-- days of the whole fleet are read (fleet_days), unless some vehicles are meant. Else whole months of the span are read from
-- vehicle_months, its edges from vehicle_days; by day and week all of it is. Added up are whole millimetres, millilitres and
-- watt-hours, of which facts are made, so that sums of days and of months are the same.
-- EXPLAIN indexes=1: vehicle_days and fleet_days by account and local_date, vehicle_months by account and month.
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
    sum(d.driven_mm) / 1000 AS driven_m, sum(d.rented_mm) / 1000 AS rented_m, sum(d.driven_days) AS driven_days, sum(d.fuel_ml) AS fuel_ml,
    sum(d.energy_wh) AS energy_wh, sum(d.fuelled_mm) / 1000 AS fuelled_m, sum(d.cost_energy) AS cost_energy
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sum(toInt64(round(f.driven_m * 1000))) AS driven_mm, sum(toInt64(round(f.rented_m * 1000))) AS rented_mm,
        sum(f.driven_days) AS driven_days, sum(toInt64(round(f.fuel_l * 1000))) AS fuel_ml,
        sum(toInt64(round(f.energy_kwh * 1000))) AS energy_wh, sum(toInt64(round(f.fuelled_m * 1000))) AS fuelled_mm,
        sumIf(f.cost_energy, f.currency = {currency:String}) AS cost_energy
    FROM (
        /*if of_fleet*/SELECT local_date AS since, toUInt64(0) AS vehicle, currency, driven_m, rented_m, fuel_l, energy_kwh, cost_energy,
            driven_days, fuelled_m
        FROM fleet_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND of_fleet/*end of_fleet*/
        /*if of_both*/UNION ALL/*end of_both*/
        /*if of_vehicles*/SELECT local_date AS since, vehicle, currency, driven_m, rented_m, fuel_l, energy_kwh, cost_energy,
            toUInt64(driven_m > 0) AS driven_days, if(fuel_l > 0, driven_m, 0) AS fuelled_m
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (by_days OR local_date < whole_from OR local_date >= whole_until) AND NOT of_fleet
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        /*if by_longer*/UNION ALL
        SELECT month, vehicle, currency, driven_m, rented_m, fuel_l, energy_kwh, cost_energy, toUInt64(driven_days), fuelled_m
        FROM vehicle_months FINAL
        WHERE account = {account:UInt64} AND month >= whole_from AND month < whole_until AND NOT by_days AND NOT of_fleet
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*//*end by_longer*//*end of_vehicles*/
    ) AS f
    GROUP BY began, car
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
