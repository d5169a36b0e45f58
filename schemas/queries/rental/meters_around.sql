-- The valid readings of a meter next to a time: the last at or before it, and the first after it; and with the id 0 what the devices said of an
-- odometer last.
SELECT id, recorded_at, value
FROM meters FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = {kind:String} AND NOT voided AND id NOT IN {but:Array(UInt64)}
    AND recorded_at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
ORDER BY recorded_at DESC, id DESC
LIMIT 1
UNION ALL
SELECT id, recorded_at, value
FROM meters FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = {kind:String} AND NOT voided AND id NOT IN {but:Array(UInt64)}
    AND recorded_at > fromUnixTimestamp64Milli({at:Int64}, 'UTC')
ORDER BY recorded_at, id
LIMIT 1
UNION ALL
SELECT toUInt64(0) AS id, time AS recorded_at, (toUInt64(raw_m) + base_m) / 1609.344 AS value
FROM vehicle_mileage FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND {kind:String} = 'odometer_mi'
