-- Some revisions of records of a kind, whole: what a feed brings to its table where their writer could not do it at once. since is the oldest of
-- their times.
-- EXPLAIN indexes=1, one revision in 1,000,000: the key leaves one granule of each part that may hold the id. Of thousands with ids all over the
-- table at_minmax leaves the parts that were written lately.
SELECT *
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)}
    AND (id, revision) IN arrayZip({ids:Array(UInt64)}, {revisions:Array(UInt64)})
    AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
