-- Which vehicles are known to report through partitions, and whether one of {behind} is among those, named as topic/partition: that
-- of the newest fix, and those of all fixes since {since} ms.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64)
SELECT account, vehicle, max(has({behind:Array(String)}, concat(source_topic, '/', toString(source_partition))))
FROM
(
    SELECT account, vehicle, source_topic, source_partition
    FROM positions
    WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted) AND fix_time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT account, vehicle, source_topic, source_partition
    FROM vehicle_state
    WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted) AND source_topic != ''
)
GROUP BY account, vehicle
