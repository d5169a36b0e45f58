-- The kinds of the revisions that were written since an instant and until another.
-- EXPLAIN indexes=1: as record_unsettled.sql.
SELECT groupUniqArray(CAST(kind, 'String'))
FROM record_log
WHERE at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
