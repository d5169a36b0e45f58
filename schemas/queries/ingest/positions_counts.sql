-- How many positions some vehicles of an account have on one side of an instant, by vehicle. The mark side is filled by
-- query/positions.go. The instant is the first of a month, so that whole parts are left out by it, and months that are over are merged to
-- one part each.
SELECT vehicle, count()
FROM positions FINAL
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND fix_time /*side*/ < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
GROUP BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
