-- What was stored between two instants and is missing from tables that views fill, by table: the server died between the two. Rollups are
-- compared over the days of the span, and their first and last values only where a bucket was over at its end. EXPLAIN indexes=1: by the
-- months of the span; derivations are read whole, but for their bodies.
WITH
    fromUnixTimestamp64Milli({since:Int64}, 'UTC') AS since,
    fromUnixTimestamp64Milli({until:Int64}, 'UTC') AS until,
    measured AS (SELECT account, vehicle, signal, time, value FROM telemetry FINAL WHERE time >= toStartOfDay(since) AND time < until),
    minutes AS
    (
        SELECT account, vehicle, signal, bucket, count() AS present, min(min_value) AS low, max(max_value) AS high, argMinMerge(first_value) AS first, argMaxMerge(last_value) AS last
        FROM telemetry_1m WHERE bucket >= toStartOfDay(since) GROUP BY account, vehicle, signal, bucket
    ),
    hours AS
    (
        SELECT account, vehicle, signal, bucket, count() AS present, min(min_value) AS low, max(max_value) AS high, argMinMerge(first_value) AS first, argMaxMerge(last_value) AS last
        FROM telemetry_1h WHERE bucket >= toStartOfDay(since) GROUP BY account, vehicle, signal, bucket
    ),
    days AS
    (
        SELECT account, vehicle, signal, bucket, count() AS present, min(min_value) AS low, max(max_value) AS high, argMinMerge(first_value) AS first, argMaxMerge(last_value) AS last
        FROM telemetry_1d WHERE bucket >= toStartOfDay(since) GROUP BY account, vehicle, signal, bucket
    ),
    derived AS (SELECT account, vehicle, CAST(kind, 'String') AS what, id, revision FROM derivations FINAL WHERE written_at >= since AND written_at < until)
SELECT filled, missing
FROM
(
    SELECT 'telemetry_1m' AS filled, countIf(r.present = 0 OR r.low > s.low OR r.high < s.high OR s.over AND (r.first, r.last) != (s.first, s.last)) AS missing
    FROM
    (
        SELECT account, vehicle, signal, toStartOfMinute(time) AS bucket, min(value) AS low, max(value) AS high, argMin(value, time) AS first, argMax(value, time) AS last,
            bucket + INTERVAL 1 MINUTE <= until AS over
        FROM measured GROUP BY account, vehicle, signal, bucket
    ) AS s
    LEFT JOIN minutes AS r ON r.account = s.account AND r.vehicle = s.vehicle AND r.signal = s.signal AND r.bucket = s.bucket
    UNION ALL
    SELECT 'telemetry_1h', countIf(r.present = 0 OR r.low > s.low OR r.high < s.high OR s.over AND (r.first, r.last) != (s.first, s.last))
    FROM
    (
        SELECT account, vehicle, signal, toStartOfHour(time) AS bucket, min(value) AS low, max(value) AS high, argMin(value, time) AS first, argMax(value, time) AS last,
            bucket + INTERVAL 1 HOUR <= until AS over
        FROM measured GROUP BY account, vehicle, signal, bucket
    ) AS s
    LEFT JOIN hours AS r ON r.account = s.account AND r.vehicle = s.vehicle AND r.signal = s.signal AND r.bucket = s.bucket
    UNION ALL
    SELECT 'telemetry_1d', countIf(r.present = 0 OR r.low > s.low OR r.high < s.high OR s.over AND (r.first, r.last) != (s.first, s.last))
    FROM
    (
        SELECT account, vehicle, signal, toDateTime(toStartOfDay(time), 'UTC') AS bucket, min(value) AS low, max(value) AS high, argMin(value, time) AS first, argMax(value, time) AS last,
            bucket + INTERVAL 1 DAY <= until AS over
        FROM measured GROUP BY account, vehicle, signal, bucket
    ) AS s
    LEFT JOIN days AS r ON r.account = s.account AND r.vehicle = s.vehicle AND r.signal = s.signal AND r.bucket = s.bucket
    UNION ALL
    SELECT 'telemetry_latest', countIf(r.time < s.newest)
    FROM (SELECT account, vehicle, signal, max(time) AS newest FROM measured GROUP BY account, vehicle, signal) AS s
    LEFT JOIN (SELECT account, vehicle, signal, max(l.time) AS time FROM telemetry_latest AS l GROUP BY account, vehicle, signal) AS r
        ON r.account = s.account AND r.vehicle = s.vehicle AND r.signal = s.signal
    UNION ALL
    SELECT 'positions_by_cell', count()
    FROM positions FINAL
    WHERE received_at >= since AND received_at < until AND (account, cell, fix_time, vehicle, flags) NOT IN
    (
        SELECT account, cell, fix_time, vehicle, flags FROM positions_by_cell
        WHERE fix_time >= (SELECT min(fix_time) FROM positions WHERE received_at >= since AND received_at < until)
    )
    UNION ALL
    SELECT 'device_outcomes', count()
    FROM ingest_outcomes FINAL
    ARRAY JOIN outcome_devices AS device, outcome_quarters AS quarter, outcome_names AS outcome
    WHERE at >= since AND at < until AND (account, device, quarter, outcome, run, topic, partition, first_offset) NOT IN
    (
        SELECT account, device, quarter, outcome, run, topic, partition, first_offset FROM device_outcomes
        WHERE quarter >= (SELECT min(arrayMin(outcome_quarters)) FROM ingest_outcomes
            WHERE at >= since AND at < until AND notEmpty(outcome_quarters))
    )
    UNION ALL
    SELECT 'trips', count() FROM derived
    WHERE what = 'trip' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM trips WHERE updated_at >= since)
    UNION ALL
    SELECT 'stops', count() FROM derived
    WHERE what = 'stop' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM stops WHERE updated_at >= since)
    UNION ALL
    SELECT 'charges', count() FROM derived
    WHERE what = 'charge' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM charges WHERE updated_at >= since)
    UNION ALL
    SELECT 'visits', count() FROM derived
    WHERE what = 'visit' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM visits WHERE updated_at >= since)
    UNION ALL
    SELECT 'driving_events', count() FROM derived
    WHERE what = 'driving_event' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM driving_events WHERE updated_at >= since)
    UNION ALL
    SELECT 'alerts', count() FROM derived
    WHERE what = 'alert' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM alerts WHERE updated_at >= since)
    UNION ALL
    SELECT 'route_runs', count() FROM derived
    WHERE what = 'route_run' AND (account, vehicle, id, revision) NOT IN (SELECT account, vehicle, id, revision FROM route_runs WHERE updated_at >= since)
)
ORDER BY filled
