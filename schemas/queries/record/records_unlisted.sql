-- The newest revisions of those of some records of a kind that were written since an instant.
-- EXPLAIN indexes=1: the key leaves the granules of the records (3 of 182), and the index of at those of them that were written lately.
SELECT account, CAST(kind, 'String'), id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)}
    AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
ORDER BY id, revision DESC
LIMIT 1 BY id
