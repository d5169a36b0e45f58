-- Where the meters of some vehicles stand: the newest of what their devices say and of each meter's valid readings.
SELECT vehicle, kind, source, time, value
FROM (
    SELECT vehicle, 'odometer_mi' AS kind, time, (toUInt64(raw_m) + base_m) / 1609.344 AS value, 'telematics' AS source
    FROM vehicle_mileage FINAL
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
    UNION ALL
    SELECT vehicle, 'engine_hours' AS kind, time, value / 3600 AS value, 'telematics' AS source
    FROM telemetry_latest FINAL
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND signal = 'engine_hours_s'
    UNION ALL
    SELECT vehicle, kind, recorded_at AS time, value, toString(source) AS source
    FROM meters FINAL
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND NOT voided AND recorded_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
)
ORDER BY vehicle, kind, time DESC, source
LIMIT 1 BY vehicle, kind
