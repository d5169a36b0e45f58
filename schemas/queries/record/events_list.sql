-- The events of an account with {after} < sequence < {before}, in order; of types, vehicles and geofences if any are
-- given. The sorting key of events begins with (account, sequence), so that a page reads what it answers and little more.
SELECT sequence, id, type, vehicle, toUnixTimestamp64Milli(at), late, kind, object, revision, body
FROM events FINAL
WHERE account = {account:UInt64} AND sequence > {after:UInt64} AND sequence < {before:UInt64}
    AND (empty({types:Array(String)}) OR has({types:Array(String)}, type))
    AND (empty({vehicles:Array(UInt64)}) OR has({vehicles:Array(UInt64)}, vehicle))
    AND (empty({fences:Array(UInt64)}) OR has({fences:Array(UInt64)}, toUInt64OrZero(JSONExtractString(body, 'geofence'))))
ORDER BY sequence
LIMIT {limit:UInt64}
