-- The reports of one device that were kept apart, oldest first, up to a number of them.
SELECT at, source_topic, source_partition, source_offset, source_index, run, report
FROM unregistered_reports FINAL
WHERE unique_id = {unique_id:String}
ORDER BY at, source_topic, source_partition, source_offset, source_index
LIMIT {limit:UInt32}
