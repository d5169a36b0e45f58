-- How many rows mileage.sql gives on all pages; the conditions are the same.
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
SELECT uniqExact(vehicle, multiIf({by:String} = 'day', day, {by:String} = 'month', toStartOfMonth(day), toDate({from:Date})))
FROM (
    SELECT vehicle, toDate(formatDateTime(start_at, '%F', transform(vehicle, zoned, zones, if(home = '', 'UTC', home)))) AS day
    FROM trips FINAL
    WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND NOT deleted
        AND day >= {from:Date} AND day <= {to:Date}
        AND start_at >= toDateTime64({from:Date}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64({to:Date}, 3, 'UTC') + INTERVAL 2 DAY
)
SETTINGS do_not_merge_across_partitions_select_final = 1
