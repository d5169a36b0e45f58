-- One of what was derived for an account by its id, withdrawn or not. The mark table is filled by query/derived.go. The inner query
-- reads the column id alone; what it finds is the key of the outer.
-- EXPLAIN indexes=1, in 1,000,000 trips: the outer by the key, 1 of 124 granules; 25 to 40 ms in all.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body
FROM /*table*/ FINAL
WHERE account = {account:UInt64} AND (vehicle, start_at, id) IN (
    SELECT vehicle, start_at, id FROM /*table*/ WHERE account = {account:UInt64} AND id = {id:UInt64}
)
SETTINGS do_not_merge_across_partitions_select_final = 1
