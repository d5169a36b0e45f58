-- report: Time in geofences
-- about: How often vehicles were in geofences, and how long: on each local day the time of that day.
-- bases: accrual
-- groups: total day week month quarter year geofence vehicle make model class location owner tag
-- figure visits count: Visits that began.
-- figure inside_s seconds: Seconds inside on the days of the span, whenever the visit began. Of a visit that goes on, to what was
--   heard last. A vehicle in two geofences at once is counted in both.
-- figure visit_s seconds: Seconds from the beginning to the end of the visits that began.
-- figure visitors distinct: Vehicles that were in one.
-- ratio mean_visit_s seconds = visit_s / visits: Seconds of a visit that began, on average.
-- A visit is cut at the midnights of the zone that its vehicle has now, which zone_days tells. It is found by its days in UTC
-- and the one on either side, so that a join of equal days does. Of visits that went on into the span older months are read.
-- EXPLAIN indexes=1: visits by the account, and by the months up to the end of the span.
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'geofence', toString(fence), if({group:String} = 'total', '', ifNull(keys.key, ''))))) AS key,
    sum(d.visits) AS visits, sum(d.inside_s) AS inside_s, sum(d.visit_s) AS visit_s,
    uniqExactMerge(d.cars) AS visitors
FROM (
    WITH (/*query vehicle_zones*/) AS zones
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), m.day)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year', 'geofence'), 0, vehicle) AS car,
        if({group:String} = 'geofence', geofence, 0) AS fence,
        countIf(start_ms >= m.begins_ms) AS visits, sumIf(intDiv(end_ms - start_ms + 500, 1000), start_ms >= m.begins_ms) AS visit_s,
        sum(intDiv(least(end_ms, m.ends_ms) - greatest(start_ms, m.begins_ms) + 500, 1000)) AS inside_s, uniqExactState(vehicle) AS cars
    FROM (
        SELECT vehicle, geofence, toUnixTimestamp64Milli(start_at) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
            transform(vehicle, zones.1, zones.2, zones.2[-1]) AS zone,
            arrayJoin(range(greatest(toInt32(toDate32(start_at)) - 1, toInt32({from:Date32})),
                least(toInt32(toDate32(end_at)) + 1, toInt32({to:Date32})) + 1)) AS on
        FROM visits FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND end_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND vehicle IN (/*query vehicles_chosen*/)
    ) AS v
    INNER JOIN (/*query zone_days*/) AS m ON m.zone = v.zone AND m.on = v.on
    WHERE start_ms < m.ends_ms AND (end_ms > m.begins_ms OR start_ms >= m.begins_ms)
    GROUP BY began, car, fence
) AS d
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
