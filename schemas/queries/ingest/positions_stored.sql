-- Which of given fix times (ms) are stored already, with their device times and alarms: the duplicates of a batch. Rows that
-- came from the batch's own range do not count: when the batch is formed again after a crash they may be there. One
-- primary-key look-up each.
-- External: wanted (account UInt64, vehicle UInt64, fix_ms Int64)
SELECT account, vehicle, fix_time, device_time, alarm
FROM positions
WHERE (account, vehicle, fix_time) IN (SELECT account, vehicle, fromUnixTimestamp64Milli(fix_ms, 'UTC') FROM wanted)
    AND NOT (source_topic = {topic:String} AND source_partition = {partition:UInt16} AND source_offset >= {first:UInt64})
