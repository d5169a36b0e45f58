-- How many rows positions_track.sql gives, or, with {every} milliseconds, in how many intervals of that length.
SELECT if({every:Int64} = 0, count(),
    uniqExactIf(intDiv(toUnixTimestamp64Milli(fix_time), greatest({every:Int64}, 1)), {every:Int64} != 0))
FROM positions FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND bitAnd(flags, {without:UInt32}) = 0 AND ({with:UInt32} = 0 OR bitAnd(flags, {with:UInt32}) != 0)
SETTINGS do_not_merge_across_partitions_select_final = 1
