-- How high the meters of some vehicles stood on the days from a time on: by what their devices said, the highest of each day
-- (UTC), and by their valid readings. Read by query.MetersOf for miles and hours a day.
SELECT vehicle, kind, source, time, value
FROM (
    SELECT vehicle, if(signal = 'odometer_m', 'odometer_mi', 'engine_hours') AS kind, 'telematics' AS source,
        CAST(bucket, 'DateTime64(3, \'UTC\')') AS time, max(max_value) / if(signal = 'odometer_m', 1609.344, 3600) AS value
    FROM telemetry_1d
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND signal IN ('odometer_m', 'engine_hours_s')
        AND bucket >= toStartOfDay(fromUnixTimestamp64Milli({from:Int64}, 'UTC')) AND bucket <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
    GROUP BY vehicle, signal, bucket
    UNION ALL
    SELECT vehicle, kind, 'reading' AS source, recorded_at AS time, value
    FROM meters FINAL
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND NOT voided
        AND recorded_at BETWEEN fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fromUnixTimestamp64Milli({now:Int64}, 'UTC')
)
ORDER BY vehicle, kind, source, time
