-- Where given vehicles stand, for the owner of a partition that does not know them yet; one primary-key look-up each.
-- External: wanted (account UInt64, vehicle UInt64)
SELECT s.account, s.vehicle, s.device, s.fix_time, s.device_time, s.received_at, s.lat7, s.lng7, s.altitude_dm, s.speed_cms,
    s.course_cdeg, s.accuracy_dm, s.odometer_m, s.satellites, CAST(s.ignition, 'Int8'), CAST(s.motion, 'Int8'), s.alarm, s.cell, s.flags,
    s.newest_time, s.candidate_time, s.candidate_lat7, s.candidate_lng7,
    s.still_goes_ms, s.still_same_ms, s.still_speed_mps, s.still_way_m, s.still_mute_ms
FROM vehicle_state AS s FINAL
WHERE (s.account, s.vehicle) IN (SELECT account, vehicle FROM wanted)
