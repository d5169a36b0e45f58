-- How many rows telemetry_buckets.sql gives without a cursor and a limit.
SELECT uniqExact(signal, intDiv(toUnixTimestamp(bucket), {every:UInt32}))
FROM telemetry_1m
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND signal IN {signals:Array(String)}
    AND bucket >= toDateTime({from:UInt32}, 'UTC') AND bucket < toDateTime({to:UInt32}, 'UTC')
