-- Grain: the trips, stops and driving events of one vehicle that began on one local day, in the zone that the vehicle has
-- now. Key: (account, local_date, vehicle). A function of these as they stand; made with vehicle_days for days of which
-- one of them changed. Only what differs is written; the row that was made last counts, and one that has nothing any more
-- stands with zeros: read with FINAL. Metres and seconds are whole, rounded one by one, so that rows add up. trips are
-- those that somebody saw; ways those that nobody did, of ways_m, which are in distance_m too. estimated_m: of distance_m
-- what was not heard; recorded_m: of trips, without it. duration_s, moving_s, idle_s, max_speed_mps: of trips. stop_idle_s:
-- the engine ran while the vehicle stood between them. speeding_s: of the driving events called speeding. Of days whose
-- trips the account does not keep any more it stands as it was. Serves: reports of driving, which need not read trips.
CREATE TABLE IF NOT EXISTS driving_days
(
    account       UInt64,
    local_date    Date32,
    vehicle       UInt64,
    computed_at   DateTime64(3, 'UTC'),
    trips         UInt32,
    ways          UInt32,
    distance_m    Int64,
    ways_m        Int64,
    estimated_m   Int64,
    recorded_m    Int64,
    duration_s    Int64,
    moving_s      Int64,
    idle_s        Int64,
    stop_idle_s   Int64,
    max_speed_mps Float64,
    braking       UInt32,
    acceleration  UInt32,
    cornering     UInt32,
    speeding      UInt32,
    speeding_s    Int64,
    crashes       UInt32
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
