-- How many revisions of an account that bear a time since an instant have more than one row, which none must.
SELECT count()
FROM
(
    SELECT kind, id, revision
    FROM record_log
    WHERE account = {account:UInt64} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    GROUP BY kind, id, revision HAVING count() > 1
)
