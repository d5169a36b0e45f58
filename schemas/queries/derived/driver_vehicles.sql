-- The vehicles that a driver may have driven at any time of [{from}, {to}): as people said, by bookings, by tags. A tag or
-- booking may reach into a trip from before. EXPLAIN indexes=1: tag_reports by the set of tags of each granule.
SELECT DISTINCT vehicle FROM
(
    SELECT vehicle FROM trip_drivers FINAL
    WHERE account = {account:UInt64} AND archived_at IS NULL AND driver = {driver:String}
        AND from_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC') AND to_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    UNION ALL
    SELECT toUInt64OrZero(substring(vehicle_id, 5)) FROM bookings FINAL
    WHERE account = {account:UInt64} AND archived_at IS NULL AND vehicle_id != '' AND status IN ('active', 'completed')
        AND actual_pickup_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND (actual_return_at = 0 OR actual_return_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
        AND (customer_id = {driver:String} OR has(driver_ids, {driver:String}))
    UNION ALL
    SELECT vehicle FROM tag_reports
    WHERE account = {account:UInt64} AND tag IN {tags:Array(String)}
        AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') - toIntervalDay(1)
)
ORDER BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1
