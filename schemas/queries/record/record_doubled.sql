-- How many revisions of an account have more than one row, which none must.
SELECT count()
FROM
(
    SELECT kind, id, revision FROM record_log WHERE account = {account:UInt64} GROUP BY kind, id, revision HAVING count() > 1
)
