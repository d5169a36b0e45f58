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
-- The totals are of the same rows, but by tag, of which a vehicle has many. EXPLAIN indexes=1: geofence_days by account and date.
SELECT
    grouping(key) AS everything,
    multiIf({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(toInt32(d.part))),
        {group:String} IN ('vehicle', 'geofence'), toString(d.part), ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
    sum(d.visits) AS visits, sum(d.inside_s) AS inside_s, sum(d.visit_s) AS visit_s, uniqExactMerge(d.cars) AS visitors
FROM (
    SELECT
        multiIf({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toUInt64(toInt32(toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)))),
            {group:String} = 'geofence', geofence, {group:String} = 'total', 0, vehicle) AS part,
        sum(g.visits) AS visits, sum(g.inside_s) AS inside_s, sum(g.visit_s) AS visit_s, uniqExactState(vehicle) AS cars
    FROM geofence_days AS g FINAL
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND stays > 0
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY part
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.part/*end by_traits*/
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
