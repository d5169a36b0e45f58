-- How many rows mileage.sql gives on all pages; the conditions are the same.
-- EXPLAIN indexes=1: as score_vehicles.sql, by partition and key.
SELECT uniqExact(vehicle, multiIf({by:String} = 'day', local_date, {by:String} = 'month', toStartOfMonth(local_date), toDate({from:Date})))
FROM trips FINAL
WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND NOT deleted
    AND local_date >= {from:Date} AND local_date <= {to:Date}
    AND start_at >= toDateTime64({from:Date}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64({to:Date}, 3, 'UTC') + INTERVAL 2 DAY
SETTINGS do_not_merge_across_partitions_select_final = 1
