-- Whose bookings had some vehicles of an account at any time of [{from}, {to}]: from the pickup to the return. The customer,
-- or of a company the first driver that the booking names by id. The newest booking counts.
SELECT toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, id, toUnixTimestamp64Milli(actual_pickup_at),
    if(actual_return_at = 0, toInt64(253370764800000), toUnixTimestamp64Milli(actual_return_at)),
    if(customer_id IN (SELECT concat('cus_', toString(id)) FROM customers FINAL WHERE account = {account:UInt64} AND type = 'company'),
        arrayFirst(d -> d != '', driver_ids), customer_id)
FROM bookings FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('active', 'completed') AND actual_pickup_at > 0
    AND vehicle_id IN arrayMap(v -> concat('veh_', toString(v)), {vehicles:Array(UInt64)})
    AND actual_pickup_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (actual_return_at = 0 OR actual_return_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
ORDER BY vehicle, id DESC
SETTINGS do_not_merge_across_partitions_select_final = 1
