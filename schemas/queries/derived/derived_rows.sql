-- The newest revisions of what was derived for an account and stands at some places of the sorting key, in no order; {first} and
-- {last} are the least and greatest of {starts}. The mark table is filled by query/derived.go. Without FINAL, which would merge
-- all rows of the granules to find these.
-- EXPLAIN indexes=1, 20 trips of one vehicle in the same: by the key, 1 or 2 granules.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body
FROM /*table*/
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
    AND start_at BETWEEN fromUnixTimestamp64Milli({first:Int64}, 'UTC') AND fromUnixTimestamp64Milli({last:Int64}, 'UTC')
    AND (vehicle, toUnixTimestamp64Milli(start_at), id) IN arrayZip({vehicles:Array(UInt64)}, {starts:Array(Int64)}, {ids:Array(UInt64)})
ORDER BY revision DESC
LIMIT 1 BY vehicle, start_at, id
SETTINGS max_threads = 1
