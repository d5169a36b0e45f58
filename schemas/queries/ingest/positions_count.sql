-- How many rows positions_track.sql gives, or in how many intervals. The marks are filled by query/positions.go: counted, and flags where
-- any are asked for. Without them the server counts a part that is merged by its key, and reads no more than the ends.
SELECT /*counted*/ count()
FROM positions FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    /*flags*/
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1, enable_analyzer = 0
