-- Where given vehicles stand, for the owner of a partition that does not know them yet; one primary-key look-up each.
-- External: wanted (account UInt64, vehicle UInt64)
SELECT
    account,
    vehicle,
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
    flags,
    newest_time,
    candidate_time,
    candidate_lat7,
    candidate_lng7,
    still_goes_ms,
    still_same_ms,
    still_speed_mps,
    still_way_m,
    still_mute_ms
FROM vehicle_state FINAL
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
