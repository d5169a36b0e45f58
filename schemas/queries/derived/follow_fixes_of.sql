-- The first fixes of one vehicle in the span (after, until], packed as in follow_fixes.
SELECT groupConcat(concat(
    reinterpretAsFixedString(toUnixTimestamp64Milli(p.fix_time)), reinterpretAsFixedString(toUnixTimestamp64Milli(p.received_at)),
    reinterpretAsFixedString(toUnixTimestamp64Milli(p.device_time)), reinterpretAsFixedString(p.device), reinterpretAsFixedString(p.cell),
    reinterpretAsFixedString(p.lat7), reinterpretAsFixedString(p.lng7), reinterpretAsFixedString(ifNull(p.altitude_dm, toInt32(-2147483648))),
    reinterpretAsFixedString(ifNull(toInt32(p.speed_cms), toInt32(-1))), reinterpretAsFixedString(ifNull(toInt32(p.course_cdeg), toInt32(-1))),
    reinterpretAsFixedString(ifNull(toInt64(p.accuracy_dm), toInt64(-1))), reinterpretAsFixedString(ifNull(toInt64(p.odometer_m), toInt64(-1))),
    reinterpretAsFixedString(ifNull(toInt16(p.satellites), toInt16(-1))), reinterpretAsFixedString(p.flags),
    reinterpretAsFixedString(toUInt8(p.ignition)), reinterpretAsFixedString(toUInt8(p.motion)),
    if(p.alarm = '' OR has({alarms:Array(String)}, p.alarm), char(indexOf({alarms:Array(String)}, p.alarm)),
        concat(char(255), char(length(p.alarm)), p.alarm)))) AS packed
FROM
(
    SELECT *
    FROM positions
    WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
        AND fix_time > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND fix_time <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    ORDER BY fix_time
    LIMIT {limit:UInt64}
) AS p
