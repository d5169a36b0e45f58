-- One of charges by its id, withdrawn or not. The inner query reads the column id alone; what it finds is the key of the outer.
-- EXPLAIN indexes=1: as trips_by_id.sql, which has the same key.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body
FROM charges FINAL
WHERE account = {account:UInt64} AND (vehicle, start_at, id) IN (
    SELECT vehicle, start_at, id FROM charges WHERE account = {account:UInt64} AND id = {id:UInt64}
)
SETTINGS do_not_merge_across_partitions_select_final = 1
