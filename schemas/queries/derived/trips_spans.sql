-- When the trips of some vehicles, or of all if none is named, were that overlap [{from}, {to}), by vehicle and start;
-- at most {most}.
SELECT id, vehicle, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), distance_m - distance_estimated_m, moving_s, unrecorded
FROM trips FINAL
WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (end_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR open)
    AND ({deleted:UInt8} OR NOT deleted)
ORDER BY vehicle, start_at, id
LIMIT {most:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
