-- Driving events that began in [{from}, {to}), by vehicle and start, with the seconds of those that last: what the safety
-- scores of drivers are made of beside their trips.
SELECT vehicle, toUnixTimestamp64Milli(start_at), what, dateDiff('millisecond', start_at, end_at) / 1000
FROM driving_events FINAL
WHERE account = {account:UInt64} AND NOT deleted
    AND start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
ORDER BY vehicle, start_at, id
SETTINGS do_not_merge_across_partitions_select_final = 1
