-- How many rows dead_letters.sql gives without a cursor and a limit.
SELECT count()
FROM dead_letters FINAL
WHERE account = {account:UInt64}
    AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND ({reason:String} = '' OR reason = {reason:String}) AND ({unique_id:String} = '' OR unique_id = {unique_id:String})
SETTINGS do_not_merge_across_partitions_select_final = 1
