-- Grain: an instant since which a vehicle was in a state, as the newest revision says that names this instant. Key:
-- (account, vehicle, since). Read with FINAL. Filled from record_log by who makes facts, as often as one likes. A
-- revision with a higher number overrules those before it from its since on: vehicle_days says how. Serves: vehicle_days,
-- which would have to unpack every revision of a vehicle.
CREATE TABLE IF NOT EXISTS vehicle_statuses
(
    account  UInt64,
    vehicle  UInt64,
    since    DateTime64(3, 'UTC'),
    revision UInt64,
    status   LowCardinality(String)
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, since)
SETTINGS non_replicated_deduplication_window = 10000
