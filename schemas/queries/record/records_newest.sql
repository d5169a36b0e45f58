-- The newest revisions of some records of an account: kinds and ids are the same place in each array. All revisions of these are read, so it is not
-- for calendars, which have many and large ones.
-- EXPLAIN indexes=1: the key leaves the granules of the records, as in record_newest.sql.
SELECT CAST(kind, 'String'), id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
WHERE account = {account:UInt64} AND (kind, id) IN arrayZip({kinds:Array(String)}, {ids:Array(UInt64)})
ORDER BY kind, id, revision DESC
LIMIT 1 BY kind, id
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
