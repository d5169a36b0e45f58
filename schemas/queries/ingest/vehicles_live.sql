-- What is known of some vehicles at this moment: the newest trusted fix, the odometer, and a few signals.
SELECT
    v.vehicle, ifNull(toUnixTimestamp64Milli(s.fix_time), 0), ifNull(s.lat7, 0), ifNull(s.lng7, 0), ifNull(toInt32(s.speed_cms), -1),
    ifNull(toInt32(s.course_cdeg), -1), ifNull(toInt64(s.accuracy_dm), -1), ifNull(toInt8(s.ignition), toInt8(0)),
    m.time, m.mileage, t.soc_pct, t.soc_at, t.fuel_level_pct, t.fuel_at, t.range_m, t.engine_hours_s
FROM (SELECT arrayJoin({vehicles:Array(UInt64)}) AS vehicle) AS v
LEFT JOIN (
    SELECT vehicle, fix_time, lat7, lng7, speed_cms, course_cdeg, accuracy_dm, ignition
    FROM vehicle_state FINAL WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
) AS s ON s.vehicle = v.vehicle
LEFT JOIN (
    SELECT vehicle, time, toUInt64(raw_m) + base_m AS mileage
    FROM vehicle_mileage FINAL WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
) AS m ON m.vehicle = v.vehicle
LEFT JOIN (
    SELECT
        vehicle,
        anyIf(toNullable(value), signal = 'soc_pct') AS soc_pct,
        anyIf(toNullable(time), signal = 'soc_pct') AS soc_at,
        anyIf(toNullable(value), signal = 'fuel_level_pct') AS fuel_level_pct,
        anyIf(toNullable(time), signal = 'fuel_level_pct') AS fuel_at,
        anyIf(toNullable(value), signal = 'range_m') AS range_m,
        anyIf(toNullable(value), signal = 'engine_hours_s') AS engine_hours_s
    FROM telemetry_latest FINAL
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
        AND signal IN ('soc_pct', 'fuel_level_pct', 'range_m', 'engine_hours_s')
    GROUP BY vehicle
) AS t ON t.vehicle = v.vehicle
SETTINGS join_use_nulls = 1
