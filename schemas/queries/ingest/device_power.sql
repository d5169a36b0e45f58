-- The lowest that some vehicles' trackers said of their own batteries and of their supply, by local day in {zone} of the begin of the hour (of UTC: where
-- local hours begin at :30 or :45 one hour holds a part of the next day), or over the whole span without one. The hours that the span begins and
-- ends in count whole. EXPLAIN indexes=1: the granules of the vehicles and signals.
SELECT vehicle, if(empty({zone:String}), '', toString(toDate(bucket, if(empty({zone:String}), 'UTC', {zone:String})))) AS day, toString(signal) AS what, min(min_value) AS lowest
FROM telemetry_1h
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND signal IN ('device_battery_pct', 'device_battery_v', 'battery_v')
    AND bucket > fromUnixTimestamp64Milli({from:Int64}, 'UTC') - INTERVAL 1 HOUR AND bucket < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY vehicle, day, what
