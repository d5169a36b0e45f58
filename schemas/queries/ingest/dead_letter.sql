-- One dead letter of an account with its payload.
SELECT id, toUnixTimestamp64Milli(at), reason, detail, unique_id, source_topic, source_partition, source_offset, source_index, format, payload_bytes, payload
FROM dead_letters FINAL
WHERE account = {account:UInt64} AND id = {id:UInt64}
LIMIT 1
SETTINGS do_not_merge_across_partitions_select_final = 1
