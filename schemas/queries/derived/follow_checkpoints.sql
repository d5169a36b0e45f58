-- The newest usable checkpoint of given vehicles that lies before a time.
-- External: wanted (account UInt64, vehicle UInt64, before_ms Int64)
SELECT c.account, c.vehicle, max(c.at) AS newest, argMax(c.state, c.at), argMax(ifNull(toUnixTimestamp64Milli(c.wake_at), 0), c.at)
FROM (SELECT * FROM checkpoints FINAL WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)) AS c
INNER JOIN wanted AS w ON c.account = w.account AND c.vehicle = w.vehicle
WHERE NOT c.dropped AND c.format = {format:UInt32} AND toUnixTimestamp64Milli(c.at) < w.before_ms
GROUP BY c.account, c.vehicle
