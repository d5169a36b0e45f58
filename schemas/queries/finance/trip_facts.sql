-- Sums of trips, stops and driving events by the key of a group: of time, of vehicles, or of what vehicles are now. A part
-- of reports, which take the columns that they need; the others are not read. What begins on a local day is of it, in the zone
-- that its vehicle has now. Ways that nobody saw are no trips; their estimated distance counts as driven, and is told
-- apart. burning_s: of idle_s and stop_idle_s those of engines. Whole months of the span are read from driving_months, its edges
-- from driving_days; by day and week all of it is. EXPLAIN indexes=1: driving_days by account and local_date, driving_months by
-- account and month.
WITH
    if(toDayOfMonth({from:Date32}) = 1, {from:Date32}, toDate32(addMonths(makeDate32(toYear({from:Date32}), toMonth({from:Date32}), 1), 1))) AS whole_from,
    makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AS whole_until,
    {group:String} IN ('day', 'week') AS by_days
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/))) AS key,
    sum(d.burning_s) AS burning_s,
    sum(d.trips) AS trips, sum(d.ways) AS ways, sum(d.distance_m) AS distance_m, sum(d.ways_m) AS ways_m,
    sum(d.estimated_m) AS estimated_m, sum(d.recorded_m) AS recorded_m, sum(d.duration_s) AS duration_s,
    sum(d.moving_s) AS moving_s, sum(d.idle_s) AS idle_s, sum(d.stop_idle_s) AS stop_idle_s,
    max(d.max_speed_mps) AS max_speed_mps, sum(d.braking) AS braking, sum(d.acceleration) AS acceleration,
    sum(d.cornering) AS cornering, sum(d.speeding) AS speeding, sum(d.speeding_s) AS speeding_s,
    sum(d.crashes) AS crashes
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        sumIf(t.idle_s + t.stop_idle_s, vehicle NOT IN (
            SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type IN ('electric', 'hydrogen'))) AS burning_s,
        sum(t.trips) AS trips, sum(t.ways) AS ways, sum(t.distance_m) AS distance_m, sum(t.ways_m) AS ways_m,
        sum(t.estimated_m) AS estimated_m, sum(t.recorded_m) AS recorded_m, sum(t.duration_s) AS duration_s,
        sum(t.moving_s) AS moving_s, sum(t.idle_s) AS idle_s, sum(t.stop_idle_s) AS stop_idle_s,
        max(t.max_speed_mps) AS max_speed_mps, sum(t.braking) AS braking, sum(t.acceleration) AS acceleration,
        sum(t.cornering) AS cornering, sum(t.speeding) AS speeding, sum(t.speeding_s) AS speeding_s,
        sum(t.crashes) AS crashes
    FROM (
        SELECT local_date AS since, vehicle,
            trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
            max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes
        FROM driving_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (by_days OR local_date < whole_from OR local_date >= whole_until)
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        /*if by_longer*/UNION ALL
        SELECT month, vehicle,
            trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
            max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes
        FROM driving_months FINAL
        WHERE account = {account:UInt64} AND month >= whole_from AND month < whole_until AND NOT by_days
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*//*end by_longer*/
    ) AS t
    GROUP BY began, car
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
