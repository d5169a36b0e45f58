-- Sums of the miles and the energy of electric vehicles by the key of a group. A part of reports, beside driven_facts, in the same units,
-- and of the same tables: days of the whole fleet, of what vehicles ran on when facts were made, or months and days of vehicles, of what they
-- run on now. These are the same but for the moment until a look has found that a fuel_type was changed.
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
    sum(d.electric_mm) / 1000 AS electric_m, sum(d.electric_wh) AS electric_wh
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sum(toInt64(round(f.driven_m * 1000))) AS electric_mm, sum(toInt64(round(f.energy_kwh * 1000))) AS electric_wh
    FROM (
        /*if of_fleet*/SELECT local_date AS since, toUInt64(0) AS vehicle, electric_m AS driven_m, electric_kwh AS energy_kwh
        FROM fleet_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND of_fleet/*end of_fleet*/
        /*if of_both*/UNION ALL/*end of_both*/
        /*if of_vehicles*/SELECT local_date AS since, vehicle, driven_m, energy_kwh
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (by_days OR local_date < whole_from OR local_date >= whole_until) AND NOT of_fleet
            AND vehicle IN (SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type = 'electric')
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        /*if by_longer*/UNION ALL
        SELECT month, vehicle, driven_m, energy_kwh
        FROM vehicle_months FINAL
        WHERE account = {account:UInt64} AND month >= whole_from AND month < whole_until AND NOT by_days AND NOT of_fleet
            AND vehicle IN (SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type = 'electric')
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
