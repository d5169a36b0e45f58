-- Makes the days of driving of an account's vehicles from one local date to another, of those in vehicles unless it is empty,
-- and writes what differs from what stands. Of dates before kept nothing is made again, as trips may be gone.
-- EXPLAIN indexes=1: trips, stops and driving_events by account, month and, where vehicles are named, vehicle; driving_days
-- by account and date.
INSERT INTO driving_days (account, local_date, vehicle, computed_at,
    trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
    max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes)
WITH
    (/*query vehicle_zones*/) AS zones,
    seconds -> intDiv(seconds + 500, 1000) AS whole
SELECT {account:UInt64}, local_date, vehicle, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), made_at + 1), 'UTC'),
    trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
    max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes
FROM
(
    SELECT t.local_date AS local_date, t.vehicle AS vehicle, sum(t.was) AS was, max(t.made_at) AS made_at,
        toUInt32(sum(t.trips)) AS trips, toUInt32(sum(t.ways)) AS ways, toInt64(sum(t.distance_m)) AS distance_m,
        toInt64(sum(t.ways_m)) AS ways_m, toInt64(sum(t.estimated_m)) AS estimated_m,
        toInt64(sum(t.recorded_m)) AS recorded_m, toInt64(sum(t.duration_s)) AS duration_s,
        toInt64(sum(t.moving_s)) AS moving_s, toInt64(sum(t.idle_s)) AS idle_s,
        toInt64(sum(t.stop_idle_s)) AS stop_idle_s, max(t.max_speed_mps) AS max_speed_mps,
        toUInt32(sum(t.braking)) AS braking, toUInt32(sum(t.acceleration)) AS acceleration,
        toUInt32(sum(t.cornering)) AS cornering, toUInt32(sum(t.speeding)) AS speeding,
        toInt64(sum(t.speeding_s)) AS speeding_s, toUInt32(sum(t.crashes)) AS crashes
    FROM
    (
        SELECT toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))) AS local_date,
            vehicle, toUInt64(0) AS was, toInt64(0) AS made_at,
            toInt64(NOT unrecorded) AS trips, toInt64(unrecorded) AS ways,
            toInt64(round(trips.distance_m)) AS distance_m,
            if(unrecorded, toInt64(round(trips.distance_m)), 0) AS ways_m,
            toInt64(round(distance_estimated_m)) AS estimated_m,
            if(unrecorded, 0, toInt64(round(trips.distance_m - distance_estimated_m))) AS recorded_m,
            if(unrecorded, 0, whole(dateDiff('millisecond', start_at, end_at))) AS duration_s,
            if(unrecorded, 0, toInt64(round(trips.moving_s))) AS moving_s,
            if(unrecorded, 0, toInt64(round(trips.idle_s))) AS idle_s, toInt64(0) AS stop_idle_s,
            if(unrecorded, 0, trips.max_speed_mps) AS max_speed_mps, toInt64(0) AS braking,
            toInt64(0) AS acceleration, toInt64(0) AS cornering, toInt64(0) AS speeding, toInt64(0) AS speeding_s,
            toInt64(0) AS crashes
        FROM trips FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        UNION ALL
        SELECT toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))), vehicle, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, toInt64(round(stops.idle_s)), 0, 0, 0, 0, 0, 0, 0
        FROM stops FINAL
        WHERE account = {account:UInt64} AND NOT deleted AND stops.idle_s > 0
            AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        UNION ALL
        SELECT toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))), vehicle, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, what = 'harsh_braking', what = 'harsh_acceleration',
            what = 'harsh_cornering', what = 'speeding',
            if(what = 'speeding', whole(dateDiff('millisecond', start_at, end_at)), 0), what = 'crash'
        FROM driving_events FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        UNION ALL
        SELECT local_date, vehicle, cityHash64(
                trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
                max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes),
            toUnixTimestamp64Milli(computed_at),
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        FROM driving_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    ) AS t
    WHERE local_date BETWEEN {from:Date32} AND {to:Date32} AND local_date >= {kept:Date32}
    GROUP BY local_date, vehicle
)
WHERE was != cityHash64(
    trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
    max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes)
SETTINGS do_not_merge_across_partitions_select_final = 1
