-- The newest revision of each record that was written since an instant and until another.
-- EXPLAIN indexes=1: as record_unsettled.sql.
SELECT *
FROM record_log
WHERE at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND (account, kind, id, revision) IN
    (
        SELECT account, kind, id, max(revision)
        FROM record_log
        WHERE at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        GROUP BY account, kind, id
    )
