-- How many claims on a value there are after a revision.
SELECT count()
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value = {value:String} AND revision > {after:UInt64}
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
