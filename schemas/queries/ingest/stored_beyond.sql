-- How many stored positions came from a partition's records from an offset on.
SELECT count()
FROM positions
WHERE source_topic = {topic:String} AND source_partition = {partition:UInt16} AND source_offset >= {offset:UInt64}
