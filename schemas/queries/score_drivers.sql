-- What the safety scores of an account's drivers are made of: the trips that began in [{from}, {to}), each with its driver
-- (see trip_drivers), and the driving events within them. A trip without a driver counts for nobody.
WITH driven AS
(
    SELECT t.vehicle AS vehicle, t.id AS id, any(t.start_at) AS start_at, any(t.end_at) AS end_at, any(t.distance_m - t.distance_estimated_m) AS distance,
        any(t.moving_s) AS moving, argMax(d.driver, d.id) AS driver
    FROM trips AS t FINAL INNER JOIN trip_drivers AS d FINAL ON t.account = d.account AND t.vehicle = d.vehicle
    WHERE t.account = {account:UInt64} AND d.account = {account:UInt64} AND NOT t.deleted AND NOT t.unrecorded AND d.archived_at IS NULL
        AND t.start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND t.start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND (d.from_at = t.start_at
            OR d.from_at <= t.start_at + toIntervalMillisecond(intDiv(dateDiff('millisecond', t.start_at, t.end_at), 2))
            AND d.to_at > t.start_at + toIntervalMillisecond(intDiv(dateDiff('millisecond', t.start_at, t.end_at), 2)))
    GROUP BY t.vehicle, t.id
    HAVING driver != ''
)
SELECT driver, sum(trips), sum(distance), sum(moving), sum(braking), sum(acceleration), sum(cornering), sum(speeding), sum(crashes), sum(seconds)
FROM
(
    SELECT driver, 1 AS trips, distance, moving, 0 AS braking, 0 AS acceleration, 0 AS cornering, 0 AS speeding, 0 AS crashes, 0. AS seconds FROM driven
    UNION ALL
    SELECT d.driver, 0, 0., 0., e.what = 'harsh_braking', e.what = 'harsh_acceleration', e.what = 'harsh_cornering', e.what = 'speeding', e.what = 'crash',
        if(e.what = 'speeding', dateDiff('millisecond', e.start_at, e.end_at) / 1000, 0.)
    FROM driving_events AS e FINAL INNER JOIN driven AS d ON e.vehicle = d.vehicle
    WHERE e.account = {account:UInt64} AND NOT e.deleted AND e.start_at >= d.start_at AND e.start_at <= d.end_at
        AND e.start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
)
GROUP BY driver
ORDER BY driver
SETTINGS do_not_merge_across_partitions_select_final = 1
