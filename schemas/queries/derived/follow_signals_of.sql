-- The first measurements of one vehicle in the span (after, until], packed as in follow_signals.
SELECT groupConcat(concat(reinterpretAsFixedString(toUnixTimestamp64Milli(t.time)),
    reinterpretAsFixedString(toUInt8(indexOf({signals:Array(String)}, t.signal))), reinterpretAsFixedString(t.value))) AS packed
FROM
(
    SELECT signal, time, value
    FROM telemetry
    WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND signal IN {signals:Array(String)}
        AND time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    ORDER BY time
    LIMIT {limit:UInt64}
) AS t
