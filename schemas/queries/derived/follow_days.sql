-- The days of which a vehicle has checkpoints that lie after a time.
SELECT toUnixTimestamp64Milli(at)
FROM checkpoints FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND NOT dropped AND at > fromUnixTimestamp64Milli({after:Int64}, 'UTC')
ORDER BY day
