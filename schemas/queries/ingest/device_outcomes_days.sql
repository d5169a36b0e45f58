-- What became of the reports of some devices, or of all with none given, that are not stored as positions: by local day of receipt in {zone},
-- or over the whole span without one. They are counted by quarters of an hour: those that the span begins and ends in count whole. EXPLAIN indexes=1: the granules of the devices and the months of the span.
SELECT device, if(empty({zone:String}), '', toString(toDate(quarter, if(empty({zone:String}), 'UTC', {zone:String})))) AS day, toString(outcome) AS what, toInt64(sum(n)) AS reports
FROM device_outcomes FINAL
WHERE account = {account:UInt64} AND (empty({devices:Array(UInt64)}) OR device IN {devices:Array(UInt64)})
    AND quarter > fromUnixTimestamp64Milli({from:Int64}, 'UTC') - INTERVAL 15 MINUTE AND quarter < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY device, day, what
ORDER BY device, day, what
SETTINGS do_not_merge_across_partitions_select_final = 1
