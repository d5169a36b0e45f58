-- Devices of all accounts that were written since a time (ms): what is remembered of them is looked up again. EXPLAIN indexes=1: devices by
-- updated_at_minmax.
SELECT DISTINCT account, id
FROM devices
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
