-- In which minutes some devices were heard of, or all with none given, by hours, in order. EXPLAIN indexes=1: the granules of the
-- devices and the months of the span.
SELECT device, hour, groupBitOr(minutes) AS heard
FROM heard_hours
WHERE account = {account:UInt64} AND (empty({devices:Array(UInt64)}) OR device IN {devices:Array(UInt64)})
    AND hour >= toStartOfHour(fromUnixTimestamp64Milli({from:Int64}, 'UTC')) AND hour < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY device, hour
ORDER BY device, hour
