-- The newest of what was derived for a vehicle of an account that began at an instant or later and hold, the newest first, each with how
-- many these are. The mark table is filled by query/derived.go. Bodies are read of all of them: that is a month or two.
-- EXPLAIN indexes=1, one vehicle of 1,000 in 1,000,000 trips of 12 months: by the key, a granule of each part of the last months.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body, count() OVER () AS total
FROM /*table*/ FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND NOT deleted
    AND start_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
ORDER BY start_at DESC, id DESC
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1, enable_analyzer = 0
