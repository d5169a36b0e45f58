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
-- EXPLAIN indexes=1: as in trip_facts.sql.
SELECT key, s.trips AS trips, s.recorded_m / 1609.344 AS scored_mi, s.moving_s AS moving_s, s.braking AS braking,
    s.acceleration AS acceleration, s.cornering AS cornering, s.speeding AS speeding, s.speeding_s AS speeding_s,
    s.crashes AS crashes, braking + acceleration + cornering AS harsh,
    if(s.recorded_m < 10000, NULL, greatest(0, 100 - (10 * braking + 8 * acceleration + 8 * cornering + 100 * crashes) * 100000 / s.recorded_m
        - if(moving_s = 0, 0, 100 * least(1, speeding_s / moving_s)))) AS score
FROM (/*query trip_facts*/) AS s
