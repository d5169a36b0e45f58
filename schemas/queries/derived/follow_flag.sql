-- Writes stored positions again, each with that of the bits of {flag} that it ought to have: a row of a vehicle and a time takes
-- the place of the one before. One that has it is written again too, as its row in the order by cell may lack it. Where another
-- device's position stands, nothing is written.
-- External: wanted (account UInt64, vehicle UInt64, at_ms Int64, device UInt64, flagged UInt32)
INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, altitude_dm, speed_cms, course_cdeg,
    accuracy_dm, odometer_m, satellites, ignition, motion, alarm, cell, flags, source_topic, source_partition, source_offset)
SELECT p.account, p.vehicle, p.fix_time, p.device, p.device_time, p.received_at, p.lat7, p.lng7, p.altitude_dm, p.speed_cms, p.course_cdeg,
    p.accuracy_dm, p.odometer_m, p.satellites, p.ignition, p.motion, p.alarm, p.cell,
    bitOr(bitAnd(p.flags, bitNot({flag:UInt32})), w.flagged), p.source_topic, p.source_partition, p.source_offset
FROM positions AS p FINAL
    INNER JOIN wanted AS w ON p.account = w.account AND p.vehicle = w.vehicle AND toUnixTimestamp64Milli(p.fix_time) = w.at_ms AND p.device = w.device
WHERE (p.account, p.vehicle, p.fix_time) IN (SELECT account, vehicle, fromUnixTimestamp64Milli(at_ms, 'UTC') FROM wanted)
SETTINGS insert_deduplicate = 0, do_not_merge_across_partitions_select_final = 1
