-- How many fixes given vehicles have before a time, and the first of them.
-- External: wanted (account UInt64, vehicle UInt64, before_ms Int64)
SELECT p.account, p.vehicle, count(), toUnixTimestamp64Milli(min(p.fix_time))
FROM positions AS p INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle
WHERE (p.account, p.vehicle) IN (SELECT account, vehicle FROM wanted) AND toUnixTimestamp64Milli(p.fix_time) < w.before_ms
GROUP BY p.account, p.vehicle
