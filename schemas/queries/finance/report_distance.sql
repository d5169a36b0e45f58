-- report: Distance
-- about: How far vehicles went, on rent and otherwise, and how much of it is estimated because nothing was heard on the way.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure driven_mi mi: Miles driven, recorded or estimated.
-- figure rented_mi mi: Of these, miles during rentals, from pickup to return.
-- figure outside_mi mi: Miles driven outside of any rental: by staff, for service and transfers, or by nobody knows whom.
-- figure estimated_mi mi: Of the miles driven, those for which nothing was heard on the way.
-- figure unrecorded_mi mi: Of the estimated miles, those of ways of which nothing was seen but the two ends.
-- figure trips count: Trips that began.
-- figure driven_days days: Days on which a vehicle moved, each vehicle's own.
-- ratio rented_share percent = rented_mi / driven_mi: Miles on rent of all miles.
-- ratio outside_share percent = outside_mi / driven_mi: Miles outside of rentals of all miles.
-- ratio estimated_share percent = estimated_mi / driven_mi: Miles that are estimated of all miles.
-- ratio mean_day_mi mi = driven_mi / driven_days: Miles of a vehicle on a day on which it moved, on average.
-- driven_mi, rented_mi and driven_days are facts of vehicles and days, as in all other reports; the others are of trips.
SELECT key, sum(driven_m) / 1609.344 AS driven_mi, sum(rented_m) / 1609.344 AS rented_mi,
    (sum(driven_m) - sum(rented_m)) / 1609.344 AS outside_mi, sum(estimated_m) / 1609.344 AS estimated_mi,
    sum(ways_m) / 1609.344 AS unrecorded_mi, sum(trips) AS trips, sum(driven_days) AS driven_days
FROM (
    SELECT key, driven_m, rented_m, driven_days, 0 AS estimated_m, 0 AS ways_m, 0 AS trips FROM (/*query driven_facts*/)
    UNION ALL
    SELECT key, 0, 0, 0, estimated_m, ways_m, trips FROM (/*query trip_facts*/)
)
GROUP BY key
