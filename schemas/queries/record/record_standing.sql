-- The newest revisions of all records of an account, at one moment: what somebody who decides in memory begins with.
SELECT CAST(kind, 'String'), id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
WHERE account = {account:UInt64}
ORDER BY kind, id, revision DESC
LIMIT 1 BY kind, id
