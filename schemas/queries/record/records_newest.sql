-- The newest revisions of some records: accounts, kinds and ids are the same place in each array. Which revisions these are is told by the key
-- alone, so that of a record with many large ones, such as a calendar, only the newest body is read.
-- Both reads are of one snapshot: a revision that came between them would else hide its record.
-- EXPLAIN indexes=1: the key leaves the granules of the records, as in record_newest.sql, and of those the ones with the newest.
SELECT account, CAST(kind, 'String'), id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body
FROM record_log
WHERE (account, kind, id, revision) IN (
    SELECT account, kind, id, max(revision)
    FROM record_log
    WHERE (account, kind, id) IN arrayZip({accounts:Array(UInt64)}, {kinds:Array(String)}, {ids:Array(UInt64)})
    GROUP BY account, kind, id
)
LIMIT 1 BY account, kind, id
SETTINGS enable_shared_storage_snapshot_in_query = 1, max_threads = 1 -- it reads a granule or two of each: more threads cost more than they bring
