-- The measurements of some signals of a vehicle with from <= time < to, by signal and time, behind ({after_signal},
-- {after_time}).
SELECT signal, toUnixTimestamp64Milli(time), value
FROM telemetry FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND signal IN {signals:Array(String)}
    AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (signal, toUnixTimestamp64Milli(time)) > ({after_signal:String}, {after_time:Int64})
ORDER BY signal, time
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
