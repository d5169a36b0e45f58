-- What the stored positions of some devices, or of all on some vehicles, say of their quality, by local day of the fix in {zone},
-- or over the whole span without one. An interval is that between fixes of one device; it is of driving if the speed at its end is 1.5 m/s
-- or more, by the tracker or else by the way between. flagged: how many have each flag, in bit order. ahead: what a clock was
-- ahead, of fixes that are flagged for that. Quantiles are digests, which keep a bounded part of
-- the values of a device, however many there are. EXPLAIN indexes=1, a week of one in 2,000,000 positions of 100 vehicles and
-- 28 days: by the months and the key, 2 of 246 granules.
SELECT
    device,
    if(empty({zone:String}), '', toString(toDate(fix_time, if(empty({zone:String}), 'UTC', {zone:String})))) AS day,
    count() AS stored,
    sumForEach(arrayMap(bit -> toUInt64(bitTest(flags, bit)), range({flags:UInt8}))) AS flagged,
    if(countIf(every > 0 AND moving) = 0, [nan, nan], quantilesTDigestIf(0.5, 0.95)(every, every > 0 AND moving)) AS moving_s,
    if(countIf(every > 0 AND NOT moving) = 0, [nan, nan], quantilesTDigestIf(0.5, 0.95)(every, every > 0 AND NOT moving)) AS standing_s,
    arrayMap(q -> toFloat64(q), quantilesTDigest(0.05, 0.5, 0.95)((toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(fix_time)) / 1000)) AS delay_s,
    ifNull(toFloat64(quantileTDigestIf(0.5)((toUnixTimestamp64Milli(device_time) - toUnixTimestamp64Milli(received_at)) / 1000, bitTest(flags, 2))), nan) AS ahead_s,
    ifNull(toFloat64(quantileTDigest(0.5)(satellites)), nan) AS satellites_middle,
    ifNull(toFloat64(quantileTDigest(0.5)(accuracy_dm)) / 10, nan) AS accuracy_m
FROM (
    SELECT device, fix_time, device_time, received_at, flags, satellites, accuracy_dm,
        if(before = 0, 0, (toUnixTimestamp64Milli(fix_time) - before) / 1000) AS every,
        if(isNull(speed_cms), geoDistance(lng7 / 1e7, lat7 / 1e7, lng_before / 1e7, lat_before / 1e7) >= 1.5 * every, speed_cms >= 150) AS moving
    FROM (
        SELECT device, fix_time, device_time, received_at, flags, satellites, accuracy_dm, speed_cms, lat7, lng7,
            lagInFrame(toUnixTimestamp64Milli(fix_time), 1, 0) OVER w AS before, lagInFrame(lat7) OVER w AS lat_before, lagInFrame(lng7) OVER w AS lng_before
        FROM positions FINAL
        WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
            AND (empty({devices:Array(UInt64)}) OR device IN {devices:Array(UInt64)})
            AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        WINDOW w AS (PARTITION BY device ORDER BY fix_time)
    )
)
GROUP BY device, day
ORDER BY device, day
SETTINGS do_not_merge_across_partitions_select_final = 1
