-- How many rows trips_list.sql gives without a cursor and a limit; the conditions are the same.
-- EXPLAIN indexes=1, a month of one vehicle in 1,000,000 trips of 1,000: by the key, 4 of 124 granules (one a partition).
SELECT count()
FROM trips FINAL
WHERE account = {account:UInt64}
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (end_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR open)
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({deleted:UInt8} OR NOT deleted)
    AND ({open:Int8} < 0 OR open = {open:Int8}) AND ({late:Int8} < 0 OR late = {late:Int8})
    AND ({any:UInt8} OR id IN {ids:Array(UInt64)})
SETTINGS do_not_merge_across_partitions_select_final = 1
