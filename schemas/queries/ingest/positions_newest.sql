-- The newest stored fix time of given vehicles, whose state is not known: only doubtful positions, or none. Rows
-- of the batch's own range do not count, as in positions_stored.
-- External: wanted (account UInt64, vehicle UInt64)
SELECT account, vehicle, max(fix_time)
FROM positions
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
    AND NOT (source_topic = {topic:String} AND source_partition = {partition:UInt16} AND source_offset >= {first:UInt64})
GROUP BY account, vehicle
