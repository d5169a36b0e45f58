-- The days of vehicles in geofences that something is about which was written at an instant or later: a visit, by the clock
-- of who writes them, or the time zone of a vehicle or, with every, of an account, by that of records. Columns and days are
-- those of facts_changed. Of a visit all its days, and those on which the facts have the vehicle in the geofence later, as
-- it may have lasted longer before.
-- EXPLAIN indexes=1: visits by updated_at_minmax, geofence_days by the months since the first visit that ended, record_log
-- by at_minmax and by key.
WITH fromUnixTimestamp64Milli({since:Int64}, 'UTC') AS since, fromUnixTimestamp64Milli({entered:Int64}, 'UTC') AS entered,
    visited AS
    (
        SELECT account, vehicle, geofence, toDate32(start_at) AS began, toDate32(end_at) AS ended
        FROM visits WHERE updated_at >= entered
    ),
    stood AS
    (
        SELECT account, vehicle, geofence, max(local_date) AS until
        FROM geofence_days FINAL
        WHERE local_date >= (SELECT if(count() = 0, toDate32('2299-12-31'), min(ended)) FROM visited) AND stays > 0
            AND (account, vehicle, geofence) IN (SELECT account, vehicle, geofence FROM visited)
        GROUP BY account, vehicle, geofence
    )
SELECT account, every, vehicle, greatest(min(first), toDate32('1970-01-01')) AS from, max(last) AS to
FROM
(
    SELECT v.account AS account, false AS every, v.vehicle AS vehicle, v.began - 1 AS first, greatest(v.ended, s.until) + 1 AS last
    FROM visited AS v LEFT JOIN stood AS s ON s.account = v.account AND s.vehicle = v.vehicle AND s.geofence = v.geofence
    UNION ALL
    SELECT account, kind = 'account', if(kind = 'account', 0, id), toDate32('1970-01-01'), toDate32('2299-12-31')
    FROM record_log INNER JOIN
    (
        SELECT account, kind, id, min(revision) AS newer FROM record_log
        WHERE kind IN ('account', 'vehicle') AND at >= since GROUP BY account, kind, id
    ) AS changed USING (account, kind, id)
    WHERE kind IN ('account', 'vehicle') AND revision + 1 >= newer
        AND (account, kind, id) IN (SELECT account, kind, id FROM record_log WHERE kind IN ('account', 'vehicle') AND at >= since)
    GROUP BY account, kind, id
    HAVING uniqExact(JSONExtractString(body, 'timezone')) > 1 OR kind = 'vehicle' AND any(newer) = 1
)
GROUP BY account, every, vehicle, toStartOfMonth(first)
ORDER BY account, every, vehicle, from
SETTINGS do_not_merge_across_partitions_select_final = 1
