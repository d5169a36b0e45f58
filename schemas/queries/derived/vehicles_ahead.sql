-- The next instants at which what is known of some vehicles changes by time alone: of readings and odometers of the future, and the present of trips that
-- are not over yet by their own clocks. What was taken back since may be there too.
-- EXPLAIN indexes=1: by the key, the granules of the vehicles; of trips, those of the newest two months.
SELECT vehicle, min(at) AS next_at
FROM
(
    SELECT vehicle, recorded_at AS at
    FROM meters
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND recorded_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
    UNION ALL
    SELECT vehicle, time
    FROM vehicle_mileage
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND time > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
    UNION ALL
    SELECT vehicle, fromUnixTimestamp64Milli({now:Int64}, 'UTC')
    FROM trips
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND end_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
        AND start_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC') - INTERVAL 31 DAY
)
GROUP BY vehicle
