-- How many rows webhook_deliveries_list.sql gives without a cursor and a limit.
-- EXPLAIN indexes=1, of two days of 30 with 3 million rows: 8 of 2,939 granules.
SELECT count()
FROM webhook_deliveries FINAL
WHERE account = {account:UInt64} AND ({endpoint:UInt64} = 0 OR endpoint = {endpoint:UInt64})
    AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND ({status:String} = '' OR status = {status:String})
    AND (empty({types:Array(String)}) OR has({types:Array(String)}, type))
SETTINGS do_not_merge_across_partitions_select_final = 1
