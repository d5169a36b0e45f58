-- How many rows webhook_attempts_list.sql gives without a cursor and a limit.
-- EXPLAIN indexes=1, of two days of 30 with 3 million rows: 8 of 2,939 granules.
SELECT count()
FROM webhook_attempts FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64}
    AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND ({delivery:UInt64} = 0 OR delivery = {delivery:UInt64}) AND ({failed:UInt8} = 0 OR NOT succeeded)
SETTINGS do_not_merge_across_partitions_select_final = 1
