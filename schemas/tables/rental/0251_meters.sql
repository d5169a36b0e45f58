-- Grain: one meter reading, as in meter_readings, in the order in which the meters of a vehicle are read. Key: (account,
-- vehicle, kind, recorded_at, id), none of which ever changes; the highest revision wins, and says whether it was voided.
-- Fed by meters_feed. Serves: where the meters of vehicles stand, the readings around one, miles a day. Read with FINAL.
CREATE TABLE IF NOT EXISTS meters
(
    account     UInt64,
    vehicle     UInt64,
    kind        LowCardinality(String),
    recorded_at DateTime64(3, 'UTC'),
    id          UInt64,
    revision    UInt64,
    value       Float64,
    source      LowCardinality(String),
    voided      Bool
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, kind, recorded_at, id)
SETTINGS non_replicated_deduplication_window = 10000
