-- When devices, or vehicles through their devices, were last heard of, and whether that is recent enough for the interval in
-- which each device reports. The mark by is device or vehicle; lists join this by heard_id. Of all of the account with none given.
-- interval_s: nine tenths of the week before are silences of at most that, by whole minutes; 0 if it was heard of less than three
-- times. within_s: for how long a device may be silent: what the device says or else the account, or else three intervals, but no
-- less than five minutes and no more than 26 hours; an hour where there is no interval. online_until: until when it is online if nothing comes.
-- EXPLAIN indexes=1, one of 100 accounts of 200 devices each: 1 granule of heard, of heard_hours those of the account and week.
SELECT heard_id, max(last_heard) AS last_heard_at, max(recent) AS online, argMax(every, last_heard) AS interval_s, argMax(within, last_heard) AS within_s,
    max(last_heard + toIntervalSecond(within)) AS online_until
FROM (
    SELECT h./*by*/ AS heard_id, h.at AS last_heard, i.interval_s AS every,
        toInt64(multiIf(d.own > 0, d.own, a.own > 0, a.own, every > 0, least(greatest(3 * every, 300), 93600), 3600)) AS within,
        last_heard >= fromUnixTimestamp64Milli({heard_now:Int64}, 'UTC') - toIntervalSecond(within) AS recent
    FROM (
        SELECT device, vehicle, max(heard_at) AS at
        FROM heard
        WHERE account = {account:UInt64} AND (empty({heard_devices:Array(UInt64)}) OR device IN {heard_devices:Array(UInt64)})
            AND (empty({heard_vehicles:Array(UInt64)}) OR vehicle IN {heard_vehicles:Array(UInt64)})
        GROUP BY device, vehicle
    ) AS h
    LEFT JOIN (
        SELECT device, if(sum(length(gaps)) < 2, 0, 60 * toInt64(quantileExactWeightedArray(0.9)(gaps, gaps))) AS interval_s
        FROM (
            SELECT device, arrayMap(gap -> toUInt32(gap), arrayPopFront(arrayDifference(if(before = 0, at, arrayPushFront(at, before))))) AS gaps
            FROM (
                SELECT device, at, lagInFrame(at[-1], 1, 0) OVER (PARTITION BY device ORDER BY hour) AS before
                FROM (
                    SELECT device, hour,
                        arrayMap(bit -> toUInt32(intDiv(toUnixTimestamp(hour), 60) + bit), bitPositionsToArray(groupBitOr(minutes))) AS at
                    FROM heard_hours
                    WHERE account = {account:UInt64} AND (empty({heard_devices:Array(UInt64)}) OR device IN {heard_devices:Array(UInt64)})
                        AND hour >= fromUnixTimestamp64Milli({heard_now:Int64}, 'UTC') - INTERVAL 7 DAY
                    GROUP BY device, hour
                )
            )
        )
        GROUP BY device
    ) AS i ON i.device = h.device
    LEFT JOIN (
        SELECT id, toUInt32(JSONExtractUInt(body, 'online_within_s')) AS own
        FROM devices FINAL
        WHERE account = {account:UInt64} AND (empty({heard_devices:Array(UInt64)}) OR id IN {heard_devices:Array(UInt64)})
    ) AS d ON d.id = h.device
    CROSS JOIN (
        SELECT any(toUInt32(JSONExtractUInt(body, 'online_within_s'))) AS own FROM accounts FINAL WHERE id = {account:UInt64}
    ) AS a
)
GROUP BY heard_id
