-- The positions of one vehicle with from <= fix_time < to, oldest first, without those that have a flag of {without}
-- and, unless {with} is 0, only those that have a flag of {with}. Reads the key in its order, so it streams. The older
-- analyzer has the same plan a millisecond or two sooner.
SELECT
    device,
    toUnixTimestamp64Milli(fix_time),
    toUnixTimestamp64Milli(device_time),
    toUnixTimestamp64Milli(received_at),
    lat7,
    lng7,
    ifNull(altitude_dm, toInt32(-2147483648)),
    ifNull(toInt32(speed_cms), -1),
    ifNull(toInt32(course_cdeg), -1),
    ifNull(toInt64(accuracy_dm), -1),
    ifNull(toInt64(odometer_m), -1),
    ifNull(toInt16(satellites), -1),
    toInt8(ignition),
    toInt8(motion),
    alarm,
    cell,
    flags
FROM positions FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    /*flags*/
ORDER BY fix_time
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, optimize_read_in_order = 1, max_threads = 1, enable_analyzer = 0
