-- How many rows telemetry_raw.sql gives without a cursor and a limit.
SELECT count()
FROM telemetry FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND signal IN {signals:Array(String)}
    AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
SETTINGS do_not_merge_across_partitions_select_final = 1
