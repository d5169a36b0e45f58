-- How many events events_list gives without a limit.
SELECT count()
FROM events FINAL
WHERE account = {account:UInt64} AND sequence > {after:UInt64} AND sequence < {before:UInt64}
    AND (empty({types:Array(String)}) OR has({types:Array(String)}, type))
    AND (empty({vehicles:Array(UInt64)}) OR has({vehicles:Array(UInt64)}, vehicle))
    AND (empty({fences:Array(UInt64)}) OR has({fences:Array(UInt64)}, toUInt64OrZero(JSONExtractString(body, 'geofence'))))
