-- What was derived for an account and stands at some places of the sorting key, in all revisions that there still are and in no order,
-- with what else is of these {vehicles}, has one of these {ids}, and lies between them. The mark table is filled by query/derived.go.
-- Without FINAL, which would merge all rows of the granules to find these. The older analyzer has the same plan half a millisecond sooner.
-- EXPLAIN indexes=1, 20 trips of one vehicle in the same: by the key, 1 or 2 granules.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body
FROM /*table*/
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
    AND start_at BETWEEN fromUnixTimestamp64Milli({first:Int64}, 'UTC') AND fromUnixTimestamp64Milli({last:Int64}, 'UTC')
    AND id IN {ids:Array(UInt64)}
SETTINGS max_threads = 1, enable_analyzer = 0
