-- The voided readings of a meter of a vehicle, in the order of their times.
SELECT id
FROM meters FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = {kind:String} AND voided
ORDER BY recorded_at, id
