-- report: Trips
-- about: How often and how far vehicles went, and how fast. A trip is of the local day on which it began. Ways that nobody
--   saw, because the tracker was silent, are no trips and stand apart.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure trips count: Trips that began.
-- figure trips_mi mi: Miles of these trips.
-- figure duration_s seconds: Seconds from the beginning to the end of these trips.
-- figure moving_s seconds: Of these, seconds in which the vehicle moved.
-- figure idle_s seconds: Of these, seconds in which it stood with the engine on.
-- figure unrecorded_trips count: Ways between two places that nobody saw.
-- figure unrecorded_mi mi: Miles of these ways, which are estimated.
-- figure max_speed_mph mph: The highest speed of any trip; null if there was none.
-- ratio mean_trip_mi mi = trips_mi / trips: Miles of a trip, on average.
-- ratio mean_trip_s seconds = duration_s / trips: Seconds of a trip, on average.
-- ratio mean_speed_mph mph = trips_mi * 3600 / moving_s: Speed while moving, on average.
SELECT key, trips, (distance_m - ways_m) / 1609.344 AS trips_mi, duration_s,
    moving_s, idle_s, ways AS unrecorded_trips,
    ways_m / 1609.344 AS unrecorded_mi, if(trips = 0, NULL, max_speed_mps * 3600 / 1609.344) AS max_speed_mph
FROM (/*query trip_facts*/)
