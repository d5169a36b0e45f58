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
-- zone_days tells. They are looked up by numbers: of the zone, and of the times that its days in UTC and the one on either side are in.
-- Seconds are those between whole seconds, so that parts of a visit add up to it. Of visits that went on into the span older months are
-- read. The totals are of the same rows, but by tag, of which a vehicle has many. EXPLAIN indexes=1: visits by the account, and by the months up to the end of the span.
WITH
    (/*query vehicle_zones*/) AS zones,
    arrayDistinct(zones.2) AS names,
    arrayMap(name -> indexOf(names, name), zones.2) AS numbers,
    -- which of the group's times a day is in, as a number, and that with the number of a zone
    day -> toInt64(if({group:String} = 'day', toInt32(day), if({group:String} = 'week', toRelativeWeekNum(day),
        if({group:String} = 'month', toRelativeMonthNum(day), if({group:String} = 'quarter', toRelativeQuarterNum(day),
        if({group:String} = 'year', toYear(day), 0)))))) AS nth,
    (zone, on) -> toInt64(zone) * 10000000 + on AS place,
    (
        SELECT (groupArray(at), groupArray(begins_ms), groupArray(ends_ms), groupArray(began))
        FROM (
            SELECT place(indexOf(names, zone), nth(day)) AS at, min(begins_ms) AS begins_ms, max(ends_ms) AS ends_ms,
                toDate32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), min(day))) AS began
            FROM (/*query zone_days*/)
            GROUP BY at
        )
    ) AS times
SELECT
    grouping(key) AS everything,
    multiIf({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(transform(place(1, toInt64(d.part)), times.1, times.4, toDate32('1970-01-01'))),
        {group:String} IN ('vehicle', 'geofence'), toString(d.part), ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
    sum(d.visits) AS visits, sum(d.inside_s) AS inside_s, sum(d.visit_s) AS visit_s, uniqExactMerge(d.cars) AS visitors
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toUInt64(on), if({group:String} = 'geofence', geofence,
            if({group:String} = 'total', 0, vehicle))) AS part,
        countIf(start_ms >= begins_ms) AS visits, sumIf(end_s - start_s, start_ms >= begins_ms) AS visit_s,
        sum(least(end_s, intDiv(ends_ms, 1000)) - greatest(start_s, intDiv(begins_ms, 1000))) AS inside_s, uniqExactState(vehicle) AS cars
    FROM (
        SELECT *, place(zone, on) AS at, transform(at, times.1, times.2, 0) AS begins_ms, transform(at, times.1, times.3, 0) AS ends_ms
        FROM (
            SELECT vehicle, geofence, toUnixTimestamp64Milli(start_at) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
                intDiv(start_ms + 500, 1000) AS start_s, intDiv(end_ms + 500, 1000) AS end_s, transform(vehicle, zones.1, numbers, numbers[-1]) AS zone,
                arrayJoin(range(nth(greatest(toDate32(start_at) - 1, {from:Date32})), nth(least(toDate32(end_at) + 1, {to:Date32})) + 1)) AS on
            FROM visits FINAL
            WHERE account = {account:UInt64} AND NOT deleted
                AND end_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                        AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                    OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        )
    )
    WHERE start_ms < ends_ms AND (end_ms > begins_ms OR start_ms >= begins_ms)
    GROUP BY part
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.part/*end by_traits*/
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
