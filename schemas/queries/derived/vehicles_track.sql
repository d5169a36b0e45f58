-- What some vehicles have driven by their trips since each of their last readings of the odometer, for mileage without one: the times and
-- values of at most eleven readings of 400 days in order, and by reading the miles from it to the next, or to {now}, by all trips and by ways that
-- nobody recorded. A trip that holds a reading counts by time. Vehicles whose trackers told an odometer in the week before are left
-- out, and so are those that have not driven since their newest reading. first is the begin of the first trip that was looked at: from a month before the
-- first reading on. EXPLAIN indexes=1, one of 1,000 vehicles with 1,000,000 trips of two years: by the months and the key, 2 of 123 granules.
WITH
    fromUnixTimestamp64Milli({now:Int64}, 'UTC') AS present,
    readings AS
    (
        SELECT vehicle, arraySort(groupArray((at, mi))) AS all,
            arraySlice(arrayFilter(p -> p.1 >= all[-1].1 - INTERVAL 400 DAY, all), -11) AS points, arrayMap(p -> p.1, points) AS times
        FROM
        (
            SELECT vehicle, recorded_at AS at, value AS mi
            FROM meters FINAL
            WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND kind = 'odometer_mi' AND NOT voided AND recorded_at <= present
            UNION ALL
            SELECT vehicle, time, (toUInt64(raw_m) + base_m) / 1609.344
            FROM vehicle_mileage FINAL
            WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND time <= present
        )
        WHERE vehicle NOT IN (
            SELECT vehicle FROM vehicle_mileage FINAL
            WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)} AND time > present - INTERVAL 7 DAY
        )
        GROUP BY vehicle
    )
SELECT vehicle, any(times) AS at, any(marks) AS mi, sumForEach(arrayMap(share -> share * driven, shares)) AS miles,
    sumForEach(arrayMap(share -> share * guessed, shares)) AS unrecorded, min(start_at) AS first, max(least(end_at, present)) AS last
FROM
(
    SELECT t.vehicle AS vehicle, t.start_at AS start_at, t.end_at AS end_at, t.driven AS driven, t.guessed AS guessed, r.times AS times,
        arrayMap(p -> p.2, r.points) AS marks,
        arrayMap((time, next) -> if(end_at <= start_at, toFloat64(start_at >= time AND start_at < next),
            greatest(0, dateDiff('millisecond', greatest(start_at, time), least(end_at, next))) / greatest(1, dateDiff('millisecond', start_at, end_at))),
            times, arrayPushBack(arrayPopFront(times), present)) AS shares
    FROM
    (
        SELECT vehicle, start_at, end_at, (distance_m + JSONExtractFloat(body, 'unrecorded_m')) / 1609.344 AS driven,
            (JSONExtractFloat(body, 'distance_estimated_m') + JSONExtractFloat(body, 'unrecorded_m')) / 1609.344 AS guessed
        FROM trips FINAL
        WHERE account = {account:UInt64} AND vehicle IN (SELECT vehicle FROM readings) AND NOT deleted AND start_at < present
            AND start_at >= (SELECT min(times[1]) FROM readings) - INTERVAL 31 DAY
    ) AS t
    INNER JOIN readings AS r ON r.vehicle = t.vehicle
)
GROUP BY vehicle
HAVING last > at[-1] AND miles[-1] > 0
SETTINGS do_not_merge_across_partitions_select_final = 1
