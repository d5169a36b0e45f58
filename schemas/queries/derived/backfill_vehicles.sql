-- The vehicles of an account that have fixes from a time on (ms), with the first and the last of those: what a backfill
-- has to derive again. Without FINAL, because a row that is there twice changes neither.
SELECT vehicle, min(fix_time), max(fix_time)
FROM positions
WHERE account = {account:UInt64} AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
GROUP BY vehicle
ORDER BY vehicle
