-- The fixes of given vehicles in spans of time (after_ms, until_ms], packed into one string a vehicle, because a row each
-- costs more than what is made of it. A fix is 85 bytes, or more, little-endian: fix, received and device time, device, cell (Int64
-- each), lat7, lng7, altitude_dm (lowest: none), speed_cms, course_cdeg (-1: none) (Int32 each), accuracy_dm, odometer_m
-- (Int64, -1: none), satellites (Int16, -1: none), flags (UInt32), ignition, motion, place of the alarm in alarms (UInt8,
-- 0: none; 255: none of these, and then its length and itself follow). In no order, and two may have one time. after and until bound all of the spans.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64, until_ms Int64)
SELECT p.account, p.vehicle, groupConcat(concat(
    reinterpretAsFixedString(toUnixTimestamp64Milli(p.fix_time)), reinterpretAsFixedString(toUnixTimestamp64Milli(p.received_at)),
    reinterpretAsFixedString(toUnixTimestamp64Milli(p.device_time)), reinterpretAsFixedString(p.device), reinterpretAsFixedString(p.cell),
    reinterpretAsFixedString(p.lat7), reinterpretAsFixedString(p.lng7), reinterpretAsFixedString(ifNull(p.altitude_dm, toInt32(-2147483648))),
    reinterpretAsFixedString(ifNull(toInt32(p.speed_cms), toInt32(-1))), reinterpretAsFixedString(ifNull(toInt32(p.course_cdeg), toInt32(-1))),
    reinterpretAsFixedString(ifNull(toInt64(p.accuracy_dm), toInt64(-1))), reinterpretAsFixedString(ifNull(toInt64(p.odometer_m), toInt64(-1))),
    reinterpretAsFixedString(ifNull(toInt16(p.satellites), toInt16(-1))), reinterpretAsFixedString(p.flags),
    reinterpretAsFixedString(toUInt8(p.ignition)), reinterpretAsFixedString(toUInt8(p.motion)),
    if(p.alarm = '' OR has({alarms:Array(String)}, p.alarm), char(indexOf({alarms:Array(String)}, p.alarm)),
        concat(char(255), char(length(p.alarm)), p.alarm)))) AS packed
FROM positions AS p INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle
WHERE (p.account, p.vehicle) IN (SELECT account, vehicle FROM wanted)
    AND p.fix_time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND p.fix_time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND toUnixTimestamp64Milli(p.fix_time) > w.after_ms AND toUnixTimestamp64Milli(p.fix_time) <= w.until_ms
GROUP BY p.account, p.vehicle
SETTINGS max_threads = 1
