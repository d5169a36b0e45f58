-- One page of an account's charges: those that overlap [{from}, {to}), whole; what is open has no end yet. In the order of start_at
-- or updated_at and id, ascending with {direction} 1, descending with -1, behind ({after_time}, {after_id}), both times direction.
-- The inner query finds the page by the narrow columns, the outer reads its bodies by the key.
-- EXPLAIN indexes=1: as trips_list.sql, which has the same key and conditions.
SELECT vehicle, id, revision, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), open, deleted, late,
    toUnixTimestamp64Milli(updated_at), body
FROM charges FINAL
WHERE account = {account:UInt64} AND (vehicle, start_at, id) IN (
    SELECT vehicle, start_at, id
    FROM charges FINAL
    WHERE account = {account:UInt64}
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND (end_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR open)
        AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND ({deleted:UInt8} OR NOT deleted)
        AND ({open:Int8} < 0 OR open = {open:Int8}) AND ({late:Int8} < 0 OR late = {late:Int8})
        AND ({direction:Int8} * toUnixTimestamp64Milli(if({by_update:UInt8}, updated_at, start_at)), {direction:Int8} * toInt64(id))
            > ({after_time:Int64}, {after_id:Int64})
    ORDER BY {direction:Int8} * toUnixTimestamp64Milli(if({by_update:UInt8}, updated_at, start_at)), {direction:Int8} * toInt64(id)
    LIMIT {limit:UInt64} OFFSET {offset:UInt64}
)
ORDER BY {direction:Int8} * toUnixTimestamp64Milli(if({by_update:UInt8}, updated_at, start_at)), {direction:Int8} * toInt64(id)
SETTINGS do_not_merge_across_partitions_select_final = 1
