-- Grain: the newest measurement of a signal of a vehicle. Fed by telemetry_latest_feed; the row with the highest time
-- wins. Serves: battery and fuel of a list of vehicles, /telemetry/latest. Read with FINAL.
CREATE TABLE IF NOT EXISTS telemetry_latest
(
    account UInt64,
    vehicle UInt64,
    signal  LowCardinality(String),
    time    DateTime64(3, 'UTC'),
    value   Float64
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (account, vehicle, signal)
SETTINGS non_replicated_deduplication_window = 10000
