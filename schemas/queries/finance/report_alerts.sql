-- report: Alerts
-- about: How many alerts there were, how grave, and how many somebody has acknowledged. By category: their kind.
-- bases: accrual
-- groups: total day week month quarter year category vehicle make model class location owner tag
-- figure alerts count: Alerts that began.
-- figure critical count: Of these, critical ones.
-- figure warnings count: Of these, warnings.
-- figure infos count: Of these, those for information.
-- figure acknowledged count: Of these, alerts that somebody has acknowledged.
-- figure still_open count: Of these, alerts that go on.
-- figure lasted_s seconds: Seconds that they lasted, of those that go on as far as is known.
-- figure alerted_vehicles distinct: Vehicles that had one.
-- ratio acknowledged_share percent = acknowledged / alerts: Acknowledged alerts of all.
-- ratio mean_s seconds = lasted_s / alerts: Seconds of an alert, on average.
-- An alert is of the local day on which it began. The totals are of the same rows, but by tag, of which a vehicle has many. EXPLAIN indexes=1: alerts by the months of the span and the account.
SELECT
    multiIf({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), {group:String} = 'vehicle', toString(car),
        {group:String} = 'category', kind, ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key, grouping(key) AS everything,
    sum(d.n) AS alerts, sum(d.critical) AS critical, sum(d.warnings) AS warnings, sum(d.infos) AS infos,
    sum(d.acknowledged) AS acknowledged, sum(d.still_open) AS still_open, sum(d.lasted_s) AS lasted_s,
    uniqExactMerge(d.cars) AS alerted_vehicles
FROM (
    WITH (/*query vehicle_zones*/) AS zones
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year', 'category'), 0, vehicle) AS car,
        if({group:String} = 'category', CAST(alert_kind, 'String'), '') AS kind,
        count() AS n, countIf(severity = 'critical') AS critical, countIf(severity = 'warning') AS warnings,
        countIf(severity = 'info') AS infos, countIf(open) AS still_open, sum(intDiv(dateDiff('millisecond', start_at, end_at) + 500, 1000)) AS lasted_s,
        countIf(id IN (SELECT id FROM alert_acks FINAL WHERE account = {account:UInt64} AND archived_at IS NULL)) AS acknowledged,
        uniqExactState(vehicle) AS cars
    FROM (
        SELECT vehicle, id, start_at, end_at, open, alert_kind, severity,
            toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))) AS day
        FROM alerts FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                    AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    )
    WHERE day BETWEEN {from:Date32} AND {to:Date32}
    GROUP BY began, car, kind
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car/*end by_traits*/
GROUP BY GROUPING SETS ((key), ())
HAVING alerts > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
