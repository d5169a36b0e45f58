-- How many of what was derived for some vehicles of an account began before an instant and hold, by vehicle. The mark table is filled by
-- query/derived.go. The instant is the first of a month, so that whole parts are left out by it, and those read are merged to one each.
SELECT vehicle, count()
FROM /*table*/ FINAL
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND NOT deleted
    AND start_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
GROUP BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1
