-- Audit: geofence_days against visits, by vehicle, geofence and local day of one month. A visit that passes midnight is cut there, between
-- whole seconds. Midnights are those of audit_driven. Days with a visit that was written since {until} are left out, vehicles
-- whose days may have become others since, those of which the account may keep none any more,
-- and all until all facts are made by this version of the program, if it ever looked. EXPLAIN indexes=1: visits by the months of those that may end late
-- enough, which are looked up by end_at_minmax, geofence_days by the partition of the month.
WITH
    (at, zone) -> toInt64(toUnixTimestamp(toDateTime(formatDateTime(toDateTime(at, 'UTC'), '%F %T', zone), 'UTC'))) - at AS offset,
    (at, first, second, zone) -> at - if(offset(at - first, zone) != first AND offset(at - second, zone) = second, second, first) AS valid,
    (day, zone) -> valid(toInt64(day) * 86400, offset(toInt64(day) * 86400 - 86400, zone), offset(toInt64(day) * 86400 + 86400, zone), zone) AS midnight,
    addMonths({month:Date32}, 1) AS next,
    cars AS
    (
        SELECT v.account AS account, v.id AS vehicle,
            coalesce(nullIf(JSONExtractString(v.body, 'timezone'), ''), nullIf(toString(a.timezone), ''), 'UTC') AS zone,
            if(a.retention_days = 0, toDate32('1970-01-01'), toDate32(fromUnixTimestamp64Milli({now:Int64}, 'UTC')) - a.retention_days + 3) AS kept
        FROM vehicles AS v FINAL
        INNER JOIN accounts AS a FINAL ON a.id = v.account
        WHERE (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs)
            AND v.account IN (SELECT DISTINCT account FROM vehicle_days) AND (v.account, v.id) NOT IN (/*query vehicles_rezoned*/)
    )
SELECT account, measure AS what, concat(toString(local_date), ' veh_', toString(vehicle), ' geo_', toString(geofence)) AS key,
    'vehicle' AS kind, vehicle AS id, toString(local_date) AS day, sum(recorded) AS expected, sum(stands) AS found
FROM
(
    SELECT account, vehicle, geofence, toDate32(on) AS local_date, added.1 AS measure, added.2 AS recorded, toInt64(0) AS stands, updated_at AS at
    FROM
    (
        SELECT account, vehicle, geofence, updated_at, deleted, zone, toUnixTimestamp64Milli(start_at) AS s, toUnixTimestamp64Milli(end_at) AS e,
            intDiv(s + 500, 1000) AS from_s, intDiv(e + 500, 1000) AS until_s,
            toInt32(toDate32(formatDateTime(start_at, '%F', zone))) AS first, toInt32(toDate32(formatDateTime(end_at, '%F', zone))) AS last,
            arrayJoin(range(greatest(first, toInt32({month:Date32})), least(last + 1, toInt32(next)))) AS on,
            if(on = first, from_s, midnight(on, zone)) AS begins, if(on = last, until_s, midnight(on + 1, zone)) AS ends
        FROM visits FINAL INNER JOIN cars USING (account, vehicle)
        WHERE end_at >= toDateTime64({month:Date32}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64(next, 3, 'UTC') + INTERVAL 1 DAY
            AND toYYYYMM(start_at) IN (SELECT DISTINCT toYYYYMM(start_at) FROM visits WHERE end_at >= toDateTime64({month:Date32}, 3, 'UTC') - INTERVAL 1 DAY)
    )
    ARRAY JOIN [('visits', toInt64(on = first AND NOT deleted)), ('inside_s', if(deleted, 0, ends - begins)),
        ('visit_s', if(on = first AND NOT deleted, until_s - from_s, 0))] AS added
    UNION ALL
    SELECT account, vehicle, geofence, local_date, column.1, 0, column.2, toDateTime64(0, 3, 'UTC')
    FROM geofence_days FINAL
    ARRAY JOIN [('visits', toInt64(visits)), ('inside_s', inside_s), ('visit_s', visit_s)] AS column
    WHERE local_date >= {month:Date32} AND local_date < next AND stays > 0
) AS d
INNER JOIN cars ON cars.account = d.account AND cars.vehicle = d.vehicle
WHERE local_date >= {month:Date32} AND local_date < next AND local_date >= kept
GROUP BY account, vehicle, geofence, local_date, measure
HAVING expected != found AND max(at) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
