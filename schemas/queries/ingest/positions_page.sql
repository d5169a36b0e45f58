-- From when to when (ms) the positions of one page are, of those that positions_track.sql gives, and how many these are. The marks are
-- filled by query/positions.go: flags where any are asked for, and DESC for the newest first. Reads the key alone.
-- EXPLAIN indexes=1, 100 of 12,000 positions of one vehicle of 1,000 in 12 months: by the key, a granule or two of each month.
SELECT min(at), max(at), count()
FROM (
    SELECT toUnixTimestamp64Milli(fix_time) AS at
    FROM positions FINAL
    WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
        AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        /*flags*/
    ORDER BY fix_time /*direction*/
    LIMIT {limit:UInt64} OFFSET {offset:UInt64}
)
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
