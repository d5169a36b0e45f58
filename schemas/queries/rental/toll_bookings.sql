-- The bookings of an account that were out at an instant and have or had a vehicle; which vehicle it was then the body tells.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM bookings FINAL
WHERE account = {account:UInt64} AND status IN ('active', 'completed') AND position(body, {vehicle:String}) > 0
    AND actual_pickup_at > toDateTime64(0, 3, 'UTC') AND actual_pickup_at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
    AND (actual_return_at <= toDateTime64(0, 3, 'UTC') OR actual_return_at > fromUnixTimestamp64Milli({at:Int64}, 'UTC'))
ORDER BY id
