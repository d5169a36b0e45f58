-- Some signals of a vehicle in intervals of {every} seconds (whole minutes, counted from the epoch), by signal and
-- interval, behind ({after_signal}, {after_time}). The mean is that of the last values of the minutes, so a minute counts
-- once however many measurements came in it, and a measurement that was stored twice changes nothing.
SELECT
    signal,
    toInt64(intDiv(toUnixTimestamp(minute), {every:UInt32}) * {every:UInt32}) AS at,
    min(low),
    max(high),
    avg(newest),
    argMin(oldest, minute),
    argMax(newest, minute)
FROM
(
    SELECT signal, bucket AS minute, min(min_value) AS low, max(max_value) AS high,
        argMinMerge(first_value) AS oldest, argMaxMerge(last_value) AS newest
    FROM telemetry_1m
    WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND signal IN {signals:Array(String)}
        AND bucket >= toDateTime({from:UInt32}, 'UTC') AND bucket < toDateTime({to:UInt32}, 'UTC')
    GROUP BY signal, bucket
)
WHERE (signal, toInt64(intDiv(toUnixTimestamp(minute), {every:UInt32}) * {every:UInt32})) > ({after_signal:String}, {after_time:Int64})
GROUP BY signal, at
ORDER BY signal, at
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
