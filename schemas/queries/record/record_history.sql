-- The revisions of one record, newest first, from below a revision.
SELECT revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64} AND revision < {below:UInt64}
ORDER BY revision DESC
LIMIT {limit:UInt32}
