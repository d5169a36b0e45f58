-- Whose write became a revision of a claim.
SELECT write_id
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value = {value:String} AND revision = {revision:UInt64}
LIMIT 1
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
