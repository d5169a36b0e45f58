-- Whether a write of the first revision of a record stands, whatever other stands beside it.
SELECT write_id
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64} AND revision = 1 AND write_id = {write:UInt64}
LIMIT 1
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
