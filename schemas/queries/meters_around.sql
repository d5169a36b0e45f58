-- The valid readings of a meter next to a time: the last at or before it, and the first after it.
SELECT id, recorded_at, value
FROM meters FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = {kind:String} AND NOT voided AND id != {id:UInt64}
    AND recorded_at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
ORDER BY recorded_at DESC, id DESC
LIMIT 1
UNION ALL
SELECT id, recorded_at, value
FROM meters FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = {kind:String} AND NOT voided AND id != {id:UInt64}
    AND recorded_at > fromUnixTimestamp64Milli({at:Int64}, 'UTC')
ORDER BY recorded_at, id
LIMIT 1
