-- report: Driving score
-- about: How safely vehicles were driven, from 0 to 100, and what the score is made of. A score of many is that of their sums,
--   never the mean of their scores. The scores of drivers are at /v1/drivers, as who drove a trip is found out when it is read.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure trips count: Trips that began.
-- figure scored_mi mi: Their recorded miles: a score is made of these.
-- figure moving_s seconds: Their seconds in which the vehicle moved.
-- figure braking count: Times of harsh braking.
-- figure acceleration count: Times of harsh acceleration.
-- figure cornering count: Times of harsh cornering.
-- figure harsh count: Times of harsh braking, acceleration or cornering.
-- figure speeding count: Times above the limit, where one was known.
-- figure speeding_s seconds: Seconds above the limit.
-- figure crashes count: Crashes that were detected.
-- figure score score: 100 less points by incidents in 100 km (braking 10, acceleration and cornering 8, a crash 100) and one for
--   each percent of the moving time above the limit, 0 at least; null below 10 km (6.2 mi), where one incident decides everything.
-- ratio harsh_per_100 ratio = harsh * 100 / scored_mi: Harsh braking, acceleration and cornering in 100 miles.
-- ratio speeding_share percent = speeding_s / moving_s: Seconds above the limit of the moving time.
-- The weights are those of fleet.Score, which a test holds this against.
-- EXPLAIN indexes=1: trips and driving_events by the months of the span and the account.
SELECT key, sum(s.trips) AS trips, sum(metres) / 1609.344 AS scored_mi, sum(moving) AS moving_s,
    sum(s.braking) AS braking, sum(s.acceleration) AS acceleration, sum(s.cornering) AS cornering, sum(s.speeding) AS speeding,
    sum(over_s) AS speeding_s, sum(s.crashes) AS crashes, braking + acceleration + cornering AS harsh,
    if(sum(metres) < 10000, NULL, greatest(0, 100 - (10 * braking + 8 * acceleration + 8 * cornering + 100 * crashes) * 100000 / sum(metres)
        - if(sum(moving) = 0, 0, 100 * least(1, sum(over_s) / sum(moving))))) AS score
FROM (
    SELECT key, trips, recorded_m AS metres, moving_s AS moving, 0 AS braking, 0 AS acceleration, 0 AS cornering,
        0 AS speeding, 0 AS crashes, 0 AS over_s
    FROM (/*query trip_facts*/)
    UNION ALL
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
            if({group:String} = 'total', '', ifNull(keys.key, '')))) AS key,
        0, 0, 0, sum(d.braking), sum(d.acceleration), sum(d.cornering), sum(d.speeding), sum(d.crashes), sum(d.over_s)
    FROM (
        WITH (/*query vehicle_zones*/) AS zones
        SELECT
            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)), toDate32('1970-01-01')) AS began,
            if({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, vehicle) AS car,
            countIf(what = 'harsh_braking') AS braking, countIf(what = 'harsh_acceleration') AS acceleration,
            countIf(what = 'harsh_cornering') AS cornering, countIf(what = 'speeding') AS speeding, countIf(what = 'crash') AS crashes,
            sumIf(intDiv(dateDiff('millisecond', start_at, end_at) + 500, 1000), what = 'speeding') AS over_s
        FROM (
            SELECT vehicle, what, start_at, end_at,
                toDate32(formatDateTime(start_at, '%F', transform(vehicle, zones.1, zones.2, zones.2[-1]))) AS day
            FROM driving_events FINAL
            WHERE account = {account:UInt64} AND NOT deleted
                AND start_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                AND vehicle IN (/*query vehicles_chosen*/)
        )
        WHERE day BETWEEN {from:Date32} AND {to:Date32}
        GROUP BY began, car
    ) AS d
    LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car
    GROUP BY key
) AS s
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
