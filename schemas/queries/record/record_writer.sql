-- Whose write became a revision of a record: the answer to "did my insert win?".
SELECT write_id
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64} AND revision = {revision:UInt64}
LIMIT 1
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
