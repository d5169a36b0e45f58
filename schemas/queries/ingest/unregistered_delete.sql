-- Forgets the reports of a device that were kept apart and are on their topic again: those that were read, up to an offset of each
-- partition that they came from, as others may be kept apart meanwhile. Not those from before a time (ms), which are not the device's
-- account's.
DELETE FROM unregistered_reports
WHERE unique_id = {unique_id:String} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND arrayExists((topic, partition, upto) -> topic = source_topic AND partition = source_partition AND source_offset <= upto,
        {topics:Array(String)}, {partitions:Array(UInt16)}, {offsets:Array(UInt64)})
