-- The newest revision of one record. What is read first is said, as the server takes half a millisecond to find it.
SELECT account, CAST(kind, 'String'), id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
PREWHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64}
ORDER BY revision DESC
LIMIT 1
SETTINGS max_threads = 1, enable_analyzer = 0 -- it reads a granule or two: more threads cost more than they bring, and the older analyzer plans it sooner
