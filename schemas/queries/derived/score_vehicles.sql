-- What the safety scores of some vehicles, or of all that drove, are made of: trips and driving events that began in
-- [{from}, {to}), so that spans side by side count nothing twice, as far as they were recorded. seconds are those of speeding.
-- EXPLAIN indexes=1, a month of one vehicle in 1,000,000 trips of 1,000: by partition and key, 1 of 124 granules.
SELECT vehicle, sum(trips), sum(distance), sum(moving), sum(braking), sum(acceleration), sum(cornering), sum(speeding), sum(crashes), sum(seconds)
FROM
(
    SELECT vehicle, 1 AS trips, distance_m - distance_estimated_m AS distance, moving_s AS moving, 0 AS braking, 0 AS acceleration, 0 AS cornering, 0 AS speeding, 0 AS crashes, 0. AS seconds
    FROM trips FINAL
    WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND NOT deleted AND NOT unrecorded
        AND start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    UNION ALL
    SELECT vehicle, 0, 0., 0., what = 'harsh_braking', what = 'harsh_acceleration', what = 'harsh_cornering', what = 'speeding', what = 'crash',
        if(what = 'speeding', dateDiff('millisecond', start_at, end_at) / 1000, 0.)
    FROM driving_events FINAL
    WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)}) AND NOT deleted
        AND start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
)
GROUP BY vehicle
ORDER BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1
