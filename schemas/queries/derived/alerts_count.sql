-- How many rows alerts_list.sql gives without a cursor and a limit; the conditions are the same.
-- EXPLAIN indexes=1: as trips_count.sql, which has the same key and conditions.
SELECT count()
FROM alerts FINAL
WHERE account = {account:UInt64}
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (end_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR open)
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({deleted:UInt8} OR NOT deleted)
    AND ({open:Int8} < 0 OR open = {open:Int8}) AND ({late:Int8} < 0 OR late = {late:Int8})
    AND (empty({geofences:Array(UInt64)}) OR geofence IN {geofences:Array(UInt64)})
    AND (empty({rules:Array(UInt64)}) OR rule IN {rules:Array(UInt64)})
    AND (empty({kinds:Array(String)}) OR alert_kind IN {kinds:Array(String)})
    AND (empty({severities:Array(String)}) OR severity IN {severities:Array(String)})
    AND (empty({statuses:Array(String)}) OR multiIf(deleted, 'withdrawn', open, 'raised', 'resolved') IN {statuses:Array(String)})
    AND ({acknowledged:Int8} < 0 OR (id IN (SELECT id FROM alert_acks WHERE account = {account:UInt64})) = {acknowledged:Int8})
SETTINGS do_not_merge_across_partitions_select_final = 1
