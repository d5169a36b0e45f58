-- What became of the reports of one account, for each day (UTC) with any, oldest first.
SELECT toUnixTimestamp(toStartOfDay(at)) AS day, sum(read), sum(stored), sum(signals), sumMap(refused)
FROM ingest_outcomes FINAL
WHERE account = {account:UInt64}
    AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY day
ORDER BY day
