-- How many fixes and measurements given vehicles have in spans of time (after_ms, until_ms], together; a vehicle without any
-- is not there. after and until bound all of the spans.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64, until_ms Int64)
SELECT account, vehicle, sum(n)
FROM
(
    SELECT p.account AS account, p.vehicle AS vehicle, count() AS n
    FROM positions AS p INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle
    WHERE (p.account, p.vehicle) IN (SELECT account, vehicle FROM wanted)
        AND p.fix_time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND p.fix_time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
        AND toUnixTimestamp64Milli(p.fix_time) > w.after_ms AND toUnixTimestamp64Milli(p.fix_time) <= w.until_ms
    GROUP BY p.account, p.vehicle
    UNION ALL
    SELECT t.account AS account, t.vehicle AS vehicle, count() AS n
    FROM telemetry AS t INNER JOIN wanted AS w ON t.account = w.account AND t.vehicle = w.vehicle
    WHERE (t.account, t.vehicle) IN (SELECT account, vehicle FROM wanted) AND t.signal IN {signals:Array(String)}
        AND t.time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND t.time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
        AND toUnixTimestamp64Milli(t.time) > w.after_ms AND toUnixTimestamp64Milli(t.time) <= w.until_ms
    GROUP BY t.account, t.vehicle
)
GROUP BY account, vehicle
