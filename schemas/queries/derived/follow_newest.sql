-- The time of the newest fix or measurement that given vehicles have after a time; a vehicle without any is not there. after
-- bounds all of these times.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64, until_ms Int64)
SELECT account, vehicle, toUnixTimestamp64Milli(max(newest))
FROM
(
    SELECT p.account AS account, p.vehicle AS vehicle, max(p.fix_time) AS newest
    FROM positions AS p INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle
    WHERE (p.account, p.vehicle) IN (SELECT account, vehicle FROM wanted)
        AND p.fix_time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND toUnixTimestamp64Milli(p.fix_time) > w.after_ms
    GROUP BY p.account, p.vehicle
    UNION ALL
    SELECT t.account AS account, t.vehicle AS vehicle, max(t.time) AS newest
    FROM telemetry AS t INNER JOIN wanted AS w ON t.account = w.account AND t.vehicle = w.vehicle
    WHERE (t.account, t.vehicle) IN (SELECT account, vehicle FROM wanted) AND t.signal IN {signals:Array(String)}
        AND t.time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND toUnixTimestamp64Milli(t.time) > w.after_ms
    GROUP BY t.account, t.vehicle
)
GROUP BY account, vehicle
