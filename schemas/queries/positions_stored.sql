-- Which of given fix times are stored already: the duplicates of a batch. wanted is an external table of (account,
-- vehicle, fix_time). Rows that came from the batch's own range do not count: when the batch is formed again after a
-- crash they may be there. One primary-key look-up each.
SELECT account, vehicle, fix_time
FROM positions
WHERE (account, vehicle, fix_time) IN (SELECT account, vehicle, fix_time FROM wanted)
    AND NOT (source_topic = {topic:String} AND source_partition = {partition:UInt16} AND source_offset >= {first:UInt64})
