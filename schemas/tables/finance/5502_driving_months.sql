-- Grain: driving_days of one vehicle, summed over one month, which is named by its first day; max_speed_mps is the
-- highest. Key: (account, month, vehicle). Made again whenever a day of the month is; the row that was made last counts:
-- read with FINAL. Serves: reports over long spans.
CREATE TABLE IF NOT EXISTS driving_months
(
    account       UInt64,
    month         Date32,
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
PARTITION BY toYear(month)
ORDER BY (account, month, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
