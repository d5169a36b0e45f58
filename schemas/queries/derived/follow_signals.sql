-- The measurements of given vehicles in spans of time (after_ms, until_ms], packed into one string a vehicle: 17 bytes each,
-- little-endian: time (Int64), place of the signal in signals (UInt8, from 1), value (Float64). In no order; a measurement
-- may be there twice. after and until bound all of the spans.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64, until_ms Int64)
SELECT t.account, t.vehicle, groupConcat(concat(reinterpretAsFixedString(toUnixTimestamp64Milli(t.time)),
    reinterpretAsFixedString(toUInt8(indexOf({signals:Array(String)}, t.signal))), reinterpretAsFixedString(t.value))) AS packed
FROM telemetry AS t INNER JOIN wanted AS w ON t.account = w.account AND t.vehicle = w.vehicle
WHERE (t.account, t.vehicle) IN (SELECT account, vehicle FROM wanted) AND t.signal IN {signals:Array(String)}
    AND t.time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND t.time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND toUnixTimestamp64Milli(t.time) > w.after_ms AND toUnixTimestamp64Milli(t.time) <= w.until_ms
GROUP BY t.account, t.vehicle
SETTINGS max_threads = 1
