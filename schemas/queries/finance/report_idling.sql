-- report: Idling
-- about: How long engines ran while vehicles stood, on trips and between them, and what that burnt.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure idle_s seconds: Seconds in which a vehicle stood with its engine on.
-- figure trip_idle_s seconds: Of these, seconds on trips, as at lights.
-- figure stop_idle_s seconds: Of these, seconds at stops.
-- figure moving_s seconds: Seconds in which a vehicle moved.
-- figure engine_s seconds: Seconds with the engine on: moving and idle.
-- figure burning_s seconds: Of the idle seconds, those of vehicles that burn something: neither electric nor on hydrogen.
-- figure idle_gal gal: What they burnt, estimated at 0.16 gallons an hour, what an engine of two litres takes without any load.
-- figure idle_fuel amount: What that cost the account; null unless the account says what a gallon costs it (energy_costs).
-- ratio idle_share percent = idle_s / engine_s: Idle time of the time with the engine on.
-- Trips and stops are of the local day on which they began. 0.16 gallons: US Department of Energy, Fact #861, compact sedan.
-- EXPLAIN indexes=1: trips and stops by the months of the span and the account.
WITH
    (SELECT any((JSONExtract(body, 'energy_costs', 'gallon', 'amount', 'Nullable(Int64)'),
        JSONExtractString(body, 'energy_costs', 'gallon', 'currency'))) FROM accounts FINAL WHERE account = {account:UInt64}) AS gallon,
    if(gallon.2 = {currency:String}, gallon.1, NULL) AS per_gal
SELECT key, trip_idle_s + stop_idle_s AS idle_s, sum(on_trips) AS trip_idle_s,
    sum(at_stops) AS stop_idle_s, sum(moving) AS moving_s, moving_s + idle_s AS engine_s,
    sum(burning) AS burning_s, sum(burning) / 3600 * 0.16 AS idle_gal,
    toInt64(round(idle_gal * per_gal)) AS idle_fuel
FROM (
    SELECT key, idle_s AS on_trips, 0 AS at_stops, moving_s AS moving, burning_s AS burning FROM (/*query trip_facts*/)
    UNION ALL
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
            if({group:String} = 'total', '', ifNull(keys.key, '')))) AS key,
        0, sum(d.idle_s), 0, sum(d.burning_s)
    FROM (
        WITH (/*query vehicle_zones*/) AS zones
        SELECT
            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)), toDate32('1970-01-01')) AS began,
            if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
            sum(toInt64(round(t.idle_s))) AS idle_s,
            sumIf(toInt64(round(t.idle_s)), vehicle NOT IN (
                SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type IN ('electric', 'hydrogen'))) AS burning_s
        FROM (
            SELECT vehicle, idle_s, toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))) AS day
            FROM stops FINAL
            WHERE account = {account:UInt64} AND NOT deleted AND idle_s > 0
                AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                AND vehicle IN (/*query vehicles_chosen*/)
        ) AS t
        WHERE day BETWEEN {from:Date32} AND {to:Date32}
        GROUP BY began, car
    ) AS d
    LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car
    GROUP BY key
)
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
