-- Which vehicles are known to report through partitions, and whether one of {behind} is among those, named as topic/partition: that
-- of the newest fix, and those of all fixes since {since} ms. The latter are not read where the former says it: such a vehicle is
-- asked about again and again while the partition lags.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64)
WITH newest AS
(
    SELECT account, vehicle, has({behind:Array(String)}, concat(source_topic, '/', toString(source_partition))) AS lags
    FROM vehicle_state
    WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted) AND source_topic != ''
)
SELECT account, vehicle, max(lags)
FROM
(
    SELECT account, vehicle, has({behind:Array(String)}, concat(source_topic, '/', toString(source_partition))) AS lags
    FROM positions
    WHERE (account, vehicle) IN
        (SELECT account, vehicle FROM wanted WHERE (account, vehicle) NOT IN (SELECT account, vehicle FROM newest WHERE lags))
        AND fix_time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT account, vehicle, lags FROM newest
)
GROUP BY account, vehicle
