-- The newest trusted position of each vehicle of an account that is not archived, by distance (0 unless {radius} is
-- given) and vehicle, behind ({after_distance}, {after_vehicle}). A box whose west is greater than its east crosses the
-- antimeridian. Distances are great circles by the haversine formula, in whole millimetres, so that the order is exact.
SELECT
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
    if({radius:Float64} = 0, 0, toUInt64(round(2000 * {earth:Float64} * asin(sqrt(least(1,
        pow(sin(radians(lat7 / 1e7 - {lat:Float64}) / 2), 2)
        + cos(radians({lat:Float64})) * cos(radians(lat7 / 1e7)) * pow(sin(radians(lng7 / 1e7 - {lng:Float64}) / 2), 2)
    )))))) AS distance
FROM vehicle_state FINAL
WHERE account = {account:UInt64}
    AND vehicle IN (
        SELECT id FROM vehicles FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL AND (empty({vehicles:Array(UInt64)}) OR id IN {vehicles:Array(UInt64)}))
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND lat7 BETWEEN {south:Int32} AND {north:Int32}
    AND if({west:Int32} <= {east:Int32}, lng7 BETWEEN {west:Int32} AND {east:Int32}, lng7 >= {west:Int32} OR lng7 <= {east:Int32})
    AND ({radius:Float64} = 0 OR distance <= 1000 * {radius:Float64})
    AND (distance, vehicle) > ({after_distance:UInt64}, {after_vehicle:UInt64})
ORDER BY distance, vehicle
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
