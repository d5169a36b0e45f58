-- The reports of one device that were kept apart since a time (ms), oldest first, up to a number of them.
SELECT at, source_topic, source_partition, source_offset, source_index, run, report
FROM unregistered_reports FINAL
WHERE unique_id = {unique_id:String} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
ORDER BY at, source_topic, source_partition, source_offset, source_index
LIMIT {limit:UInt32}
