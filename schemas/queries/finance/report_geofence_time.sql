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
-- A visit is cut where times of the group begin and end, and at those of the span, by midnights of the zone that its vehicle has now, which
-- zone_days tells. It is found by the times that its days in UTC and the one on either side are in, so that a join of equal numbers does.
-- Seconds are those between whole seconds, so that parts of a visit add up to it. Of visits that went on into the span older months are
-- read. The totals are of the same rows, but by tag, of which a vehicle has many. EXPLAIN indexes=1: visits by the account, and by the months up to the end of the span.
SELECT
    grouping(key) AS everything,
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'geofence', toString(fence), ifNull(keys.key, '')))) AS key,
    sum(d.visits) AS visits, sum(d.inside_s) AS inside_s, sum(d.visit_s) AS visit_s,
    uniqExactMerge(d.cars) AS visitors
FROM (
    WITH
        (/*query vehicle_zones*/) AS zones,
        ms -> intDiv(ms + 500, 1000) AS seconds,
        -- which of the group's times a day is in, as a number
        day -> toInt32(multiIf({group:String} = 'day', toInt32(day), {group:String} = 'week', toRelativeWeekNum(day),
            {group:String} = 'month', toRelativeMonthNum(day), {group:String} = 'quarter', toRelativeQuarterNum(day),
            {group:String} = 'year', toYear(day), 0)) AS nth
    SELECT
        m.began AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year', 'geofence'), 0, vehicle) AS car,
        if({group:String} = 'geofence', geofence, 0) AS fence,
        countIf(start_ms >= m.begins_ms) AS visits, sumIf(seconds(end_ms) - seconds(start_ms), start_ms >= m.begins_ms) AS visit_s,
        sum(seconds(least(end_ms, m.ends_ms)) - seconds(greatest(start_ms, m.begins_ms))) AS inside_s, uniqExactState(vehicle) AS cars
    FROM (
        SELECT vehicle, geofence, toUnixTimestamp64Milli(start_at) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
            transform(vehicle, zones.1, zones.2, zones.2[-1]) AS zone,
            arrayJoin(range(nth(greatest(toDate32(start_at) - 1, {from:Date32})), nth(least(toDate32(end_at) + 1, {to:Date32})) + 1)) AS on
        FROM visits FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND end_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND vehicle IN (/*query vehicles_chosen*/)
    ) AS v
    INNER JOIN (
        SELECT zone, nth(day) AS on, min(begins_ms) AS begins_ms, max(ends_ms) AS ends_ms,
            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), min(day))), toDate32('1970-01-01')) AS began
        FROM (/*query zone_days*/)
        GROUP BY zone, on
    ) AS m ON m.zone = v.zone AND m.on = v.on
    WHERE start_ms < m.ends_ms AND (end_ms > m.begins_ms OR start_ms >= m.begins_ms)
    GROUP BY began, car, fence
) AS d
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
