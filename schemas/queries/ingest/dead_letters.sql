-- The dead letters of an account with from <= at < to, newest first, behind ({after_at}, {after_id}); of one reason if
-- {reason} is given, of one device if {unique_id} is.
SELECT id, toUnixTimestamp64Milli(at) AS millis, reason, detail, unique_id, source_topic, source_partition, source_offset, source_index, format, payload_bytes
FROM dead_letters FINAL
WHERE account = {account:UInt64}
    AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND ({reason:String} = '' OR reason = {reason:String}) AND ({unique_id:String} = '' OR unique_id = {unique_id:String})
    AND ({after_id:UInt64} = 0 OR (millis, id) < ({after_at:Int64}, {after_id:UInt64}))
ORDER BY at DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
