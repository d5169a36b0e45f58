-- Sums of trips by the key of a group: of time, of vehicles, or of what vehicles are now. A part of reports. A trip is of the
-- local day of its start in the zone that its vehicle has now, as everywhere (mileage.sql). Ways that nobody saw are no
-- trips; their estimated distance counts as driven, and is told apart. Metres and seconds are
-- rounded trip by trip, so that rows add up to their total. EXPLAIN indexes=1: trips by the months of the span and the account.
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ifNull(keys.key, '')))) AS key,
    sum(d.trips) AS trips, sum(d.ways) AS ways, sum(d.distance_m) AS distance_m, sum(d.ways_m) AS ways_m,
    sum(d.estimated_m) AS estimated_m, sum(d.recorded_m) AS recorded_m, sum(d.duration_s) AS duration_s, sum(d.moving_s) AS moving_s,
    sum(d.idle_s) AS idle_s, sum(d.burning_s) AS burning_s, max(d.max_mps) AS max_mps
FROM (
    WITH (/*query vehicle_zones*/) AS zones
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
        countIf(NOT unrecorded) AS trips, countIf(unrecorded) AS ways, sum(toInt64(round(t.distance_m))) AS distance_m,
        sumIf(toInt64(round(t.distance_m)), unrecorded) AS ways_m, sum(toInt64(round(t.distance_estimated_m))) AS estimated_m,
        sumIf(intDiv(dateDiff('millisecond', start_at, end_at) + 500, 1000), NOT unrecorded) AS duration_s,
        sumIf(toInt64(round(t.distance_m - t.distance_estimated_m)), NOT unrecorded) AS recorded_m,
        sumIf(toInt64(round(t.moving_s)), NOT unrecorded) AS moving_s, sumIf(toInt64(round(t.idle_s)), NOT unrecorded) AS idle_s,
        sumIf(toInt64(round(t.idle_s)), NOT unrecorded AND vehicle NOT IN (
            SELECT vehicle FROM vehicle_traits WHERE account = {account:UInt64} AND fuel_type IN ('electric', 'hydrogen'))) AS burning_s,
        maxIf(max_speed_mps, NOT unrecorded) AS max_mps
    FROM (
        SELECT vehicle, start_at, end_at, unrecorded, distance_m, distance_estimated_m, moving_s, idle_s, max_speed_mps,
            toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))) AS day
        FROM trips FINAL
        WHERE account = {account:UInt64} AND NOT deleted
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
SETTINGS do_not_merge_across_partitions_select_final = 1
