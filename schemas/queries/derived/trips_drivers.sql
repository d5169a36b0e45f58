-- Who is said to have driven some vehicles of an account at any time of [{from}, {to}], by vehicle and, the newest first, id.
SELECT vehicle, id, toUnixTimestamp64Milli(from_at), toUnixTimestamp64Milli(to_at), driver
FROM trip_drivers FINAL
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND archived_at IS NULL
    AND from_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC') AND to_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
ORDER BY vehicle, id DESC
