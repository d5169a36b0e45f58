-- report: Energy
-- about: Fuel and electricity: what vehicles took, how far they went on it, and what the account paid for it.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure fuel_gal gal: Fuel burnt, by what vehicles tell.
-- figure fuelled_mi mi: Miles of the days on which a vehicle's fuel is known.
-- figure charged_kwh kwh: Energy that vehicles were charged with, as far as it is known.
-- figure electric_mi mi: Miles of electric vehicles.
-- figure electric_kwh kwh: Of the energy, that of electric vehicles.
-- figure charges count: Charging sessions that began.
-- figure charging_s seconds: Their seconds.
-- figure unmetered_charges count: Charging sessions of which nobody knows the energy.
-- figure driven_mi mi: Miles driven.
-- figure energy_cost money [ledger cost.fuel, cost.charging]: What was spent on fuel and charging.
-- ratio fuel_mi_per_gal mi_per_gal = fuelled_mi / fuel_gal: Miles for a gallon.
-- ratio electric_mi_per_kwh mi_per_kwh = electric_mi / electric_kwh: Miles of an electric vehicle for a kilowatt-hour; too many where
--   charging sessions are unmetered.
-- ratio energy_cost_per_mi per_mi = energy_cost / driven_mi: Cost of fuel and charging for a mile. Miles are of no currency: it is
--   right of vehicles whose money is of one.
-- Fuel, energy, miles and cost are facts of vehicles and days, added up as whole millimetres, millilitres and watt-hours; charging
-- sessions are of the local day on which they began: of the days of their zone, which zone_days tells, the last that had begun. The
-- totals are of the same rows, but by tag, of which a vehicle has many.
-- EXPLAIN indexes=1: vehicle_days, fleet_days and charges by the months of the span and the account.
SELECT key, grouping(key) AS everything, sum(fuel_ml) / 3785.411784 AS fuel_gal, sum(fuelled_mm) / 1000 / 1609.344 AS fuelled_mi,
    sum(energy_wh) / 1000 AS charged_kwh, sum(electric_mm) / 1000 / 1609.344 AS electric_mi, sum(electric_wh) / 1000 AS electric_kwh,
    sum(s.charges) AS charges, sum(charge_s) AS charging_s, sum(unmetered) AS unmetered_charges, sum(driven_mm) / 1000 / 1609.344 AS driven_mi,
    sum(cost_energy) AS energy_cost
FROM (
    SELECT key, fuel_ml, toInt64(round(fuelled_m * 1000)) AS fuelled_mm, energy_wh, 0 AS electric_mm, 0 AS electric_wh,
        toInt64(round(driven_m * 1000)) AS driven_mm, cost_energy, 0 AS charges, 0 AS charge_s, 0 AS unmetered
    FROM (/*query driven_facts*/)
    UNION ALL
    SELECT key, 0, 0, 0, toInt64(round(electric_m * 1000)), electric_wh, 0, 0, 0, 0, 0
    FROM (/*query electric_facts*/)
    UNION ALL
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
            if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/))) AS key,
        0, 0, 0, 0, 0, 0, 0, sum(d.sessions), sum(d.session_s), sum(d.unknown)
    FROM (
        WITH
            (/*query vehicle_zones*/) AS zones,
            arrayDistinct(zones.2) AS names,
            arrayMap(name -> indexOf(names, name), zones.2) AS numbers
        SELECT
            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)), toDate32('1970-01-01')) AS began,
            if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
            count() AS sessions, sum(intDiv(dateDiff('millisecond', start_at, end_at) + 500, 1000)) AS session_s,
            countIf(c.energy_kwh IS NULL) AS unknown
        FROM (
            SELECT vehicle, start_at, end_at, charges.energy_kwh, toUnixTimestamp64Milli(start_at) AS start_ms,
                transform(vehicle, zones.1, numbers, numbers[-1]) AS zone
            FROM charges FINAL
            WHERE account = {account:UInt64} AND NOT deleted
                AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                        AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                    OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        ) AS c
        ASOF INNER JOIN (
            SELECT indexOf(names, zone) AS zone, day, begins_ms, ends_ms FROM (/*query zone_days*/) WHERE begins_ms < ends_ms
        ) AS days ON days.zone = c.zone AND c.start_ms >= days.begins_ms
        WHERE start_ms < ends_ms
        GROUP BY began, car
    ) AS d
    /*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car/*end by_traits*/
    GROUP BY key
) AS s
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
