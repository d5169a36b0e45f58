-- Which of some records that were just made share their id with a record of another write: accounts, kinds and ids are the same place
-- in each array, writes are those that made them; without any, which of the records stand at all.
-- EXPLAIN indexes=1: the key leaves a granule of each (2 of 162 with two of 300,000 records).
SELECT DISTINCT account, CAST(kind, 'String'), id
FROM record_log
WHERE (account, kind, id) IN arrayZip({accounts:Array(UInt64)}, {kinds:Array(String)}, {ids:Array(UInt64)})
    AND revision = 1 AND write_id NOT IN {writes:Array(UInt64)}
SETTINGS max_threads = 1 -- it reads a granule or two of each: more threads cost more than they bring
