-- What there is of given vehicles from before a time: how many fixes, and the time of the first fix or measurement. One of which
-- there is but a checkpoint, of whatever format and dropped or not, is there too, without fixes; one of which there is nothing is not.
-- External: wanted (account UInt64, vehicle UInt64, before_ms Int64)
SELECT account, vehicle, sum(fixes), min(first)
FROM
(
    SELECT p.account AS account, p.vehicle AS vehicle, count() AS fixes, toUnixTimestamp64Milli(min(p.fix_time)) AS first
    FROM positions AS p INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle
    WHERE (p.account, p.vehicle) IN (SELECT account, vehicle FROM wanted) AND toUnixTimestamp64Milli(p.fix_time) < w.before_ms
    GROUP BY p.account, p.vehicle
    UNION ALL
    SELECT t.account AS account, t.vehicle AS vehicle, toUInt64(0) AS fixes, toUnixTimestamp64Milli(min(t.time)) AS first
    FROM telemetry AS t INNER JOIN wanted AS w ON t.account = w.account AND t.vehicle = w.vehicle
    WHERE (t.account, t.vehicle) IN (SELECT account, vehicle FROM wanted) AND t.signal IN {signals:Array(String)}
        AND toUnixTimestamp64Milli(t.time) < w.before_ms
    GROUP BY t.account, t.vehicle
    UNION ALL
    SELECT account, vehicle, toUInt64(0) AS fixes, toInt64(9223372036854775807) AS first
    FROM checkpoints
    WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
    GROUP BY account, vehicle
)
GROUP BY account, vehicle
