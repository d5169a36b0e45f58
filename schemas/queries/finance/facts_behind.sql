-- When the oldest of the revisions was written, at an instant or later, that facts are made of and that have not come to
-- the tables of current records yet; 1970 if all have.
SELECT min(written.written_at)
FROM
(
    SELECT kind, account, id, min(at) AS written_at, max(revision) AS newest
    FROM record_log
    WHERE kind IN ('account', 'block', 'booking', 'vehicle') AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    GROUP BY kind, account, id
) AS written
LEFT JOIN
(
    SELECT 'account' AS kind, account, id, revision FROM accounts
    UNION ALL
    SELECT 'block', account, id, revision FROM blocks
    WHERE (account, id) IN (SELECT account, id FROM record_log
        WHERE kind = 'block' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    UNION ALL
    SELECT 'booking', account, id, revision FROM bookings
    WHERE (account, id) IN (SELECT account, id FROM record_log
        WHERE kind = 'booking' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    UNION ALL
    SELECT 'vehicle', account, id, revision FROM vehicles
    WHERE (account, id) IN (SELECT account, id FROM record_log
        WHERE kind = 'vehicle' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
) AS there ON there.kind = written.kind AND there.account = written.account AND there.id = written.id
    AND there.revision = written.newest
WHERE there.revision = 0
