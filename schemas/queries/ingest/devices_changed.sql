-- Devices of all accounts that were written since a time (ms), with their newest revision: what is remembered of older ones is looked up again.
-- EXPLAIN indexes=1: devices by updated_at_minmax.
SELECT account, id, max(revision)
FROM devices
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
GROUP BY account, id
