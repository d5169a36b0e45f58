-- The time zones by which days of an account's vehicles are told: the account's own as vehicle 0, and those of the vehicles that
-- have one.
SELECT toUInt64(0) AS vehicle, timezone FROM accounts FINAL WHERE account = {account:UInt64}
UNION ALL
SELECT id AS vehicle, JSONExtractString(body, 'timezone') AS timezone
FROM vehicles FINAL
WHERE account = {account:UInt64} AND id IN {vehicles:Array(UInt64)} AND timezone != ''
