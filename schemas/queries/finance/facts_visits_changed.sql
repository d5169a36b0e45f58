-- The days of vehicles in geofences that a visit is about which was written at an instant or later, by the clock of who
-- writes them. Days reach far enough for any zone. Of a visit that goes on, and of which the facts have the day before
-- yesterday, only its first day and those since can be other ones; of every other one all its days, and those on which the
-- facts have the vehicle in the geofence later, as it may have lasted longer before.
-- EXPLAIN indexes=1: visits by updated_at_minmax, geofence_days by the months since the first visit that ended.
WITH fromUnixTimestamp64Milli({entered:Int64}, 'UTC') AS entered, toDate32(entered) - 2 AS over,
    changed AS
    (
        SELECT account, vehicle, geofence, open, toDate32(start_at) AS first, toDate32(end_at) AS last
        FROM visits WHERE updated_at >= entered
    ),
    stood AS
    (
        SELECT account, vehicle, geofence, max(local_date) AS last, countIf(local_date = over) > 0 AS had
        FROM geofence_days FINAL
        WHERE local_date >= (SELECT least(over, min(last) - 1) FROM changed) AND inside_s > 0
            AND (account, vehicle, geofence) IN (SELECT account, vehicle, geofence FROM changed)
        GROUP BY account, vehicle, geofence
    )
SELECT account, vehicle, min(first) AS from, max(last) AS to
FROM
(
    SELECT account, vehicle, first - 1 AS first, first + 1 AS last FROM changed
    UNION ALL
    SELECT account, vehicle, if(c.open AND s.had, greatest(c.first, least(over, c.last)), c.first) - 1, greatest(c.last, s.last) + 1
    FROM changed AS c LEFT JOIN stood AS s USING (account, vehicle, geofence)
)
GROUP BY account, vehicle, toStartOfMonth(first)
ORDER BY account, vehicle, from
SETTINGS do_not_merge_across_partitions_select_final = 1
