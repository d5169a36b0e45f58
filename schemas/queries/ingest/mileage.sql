-- One page of what the vehicles of an account drove, a row for each vehicle and local day, month, or the whole span ({by}), from the
-- day {from} to the day {to}, both included, behind ({after_vehicle}, {after_on}). A trip counts on the day of its start in the zone
-- that the vehicle, or else the account, has now, as local_on of the trip tells it (query/zones.go); local_date is by the zone that
-- held when the trip was written. Trips nobody saw count with their distance, which is estimated, and not as trips. The inner query
-- finds the page by the narrow columns of any span, the outer reads bodies of the page alone.
-- EXPLAIN indexes=1: as score_vehicles.sql, by partition and key.
WITH
    toString((SELECT any(timezone) FROM accounts FINAL WHERE account = {account:UInt64})) AS home,
    (
        SELECT (groupArray(id), groupArray(timezone))
        FROM (
            SELECT id, JSONExtractString(body, 'timezone') AS timezone FROM vehicles FINAL
            WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR id IN {vehicles:Array(UInt64)}) AND timezone != ''
        )
    ) AS own,
    arrayPushBack(own.1, 0) AS zoned, arrayPushBack(own.2, '') AS zones
SELECT vehicle, `on`, countIf(NOT JSONExtractBool(body, 'unrecorded')) AS trips, sum(distance_m) AS distance,
    sum(JSONExtractFloat(body, 'distance_estimated_m')) AS estimated, sum(moving_s) AS moving, sum(idle_s) AS idle, max(max_speed_mps) AS speed,
    toUnixTimestamp64Milli(min(start_at)) AS first_ms, toUnixTimestamp64Milli(max(end_at)) AS last_ms, toBool(max(open)) AS going_on
FROM (
    SELECT vehicle, start_at, end_at, open, distance_m, moving_s, idle_s, max_speed_mps, body,
        toDate(formatDateTime(start_at, '%F', transform(vehicle, zoned, zones, if(home = '', 'UTC', home)))) AS day,
        multiIf({by:String} = 'day', day, {by:String} = 'month', toStartOfMonth(day), toDate({from:Date})) AS `on`
    FROM trips FINAL
    WHERE account = {account:UInt64} AND NOT deleted AND day >= {from:Date} AND day <= {to:Date}
        AND start_at >= toDateTime64({from:Date}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64({to:Date}, 3, 'UTC') + INTERVAL 2 DAY
        AND (vehicle, `on`) IN (
            SELECT vehicle, `on` FROM (
                SELECT vehicle, toDate(formatDateTime(start_at, '%F', transform(vehicle, zoned, zones, if(home = '', 'UTC', home)))) AS day,
                    multiIf({by:String} = 'day', day, {by:String} = 'month', toStartOfMonth(day), toDate({from:Date})) AS `on`
                FROM trips FINAL
                WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND NOT deleted
                    AND day >= {from:Date} AND day <= {to:Date}
                    AND start_at >= toDateTime64({from:Date}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64({to:Date}, 3, 'UTC') + INTERVAL 2 DAY
            )
            WHERE (vehicle, `on`) > ({after_vehicle:UInt64}, {after_on:Date})
            GROUP BY vehicle, `on`
            ORDER BY vehicle, `on`
            LIMIT {limit:UInt64} OFFSET {offset:UInt64}
        )
)
GROUP BY vehicle, `on`
ORDER BY vehicle, `on`
SETTINGS do_not_merge_across_partitions_select_final = 1
