-- Grain: when a device was last heard of while it was on a vehicle (0: on none). Key: (account, device, vehicle); the
-- latest counts. Heard is whatever the device sent, by the time at which Kafka had it: positions, measurements,
-- duplicates and what was refused. Written by pipeline/sink at most once a minute of each device, so it may be a minute
-- behind. May be written again in any order. Serves: last_heard_at, online. Read by max(heard_at).
CREATE TABLE IF NOT EXISTS heard
(
    account  UInt64,
    device   UInt64,
    vehicle  UInt64,
    heard_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(heard_at)
ORDER BY (account, device, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
