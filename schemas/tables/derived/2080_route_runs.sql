-- Grain: one vehicle on its way along a route plan, its newest revision. Key: (account, vehicle, start_at, id). Fed by
-- route_runs_feed from derivations. Read with FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's
-- zone. Serves: lists, the progress of a plan, BI. reached, missed: how many of its stops were. body holds all of it.
CREATE TABLE IF NOT EXISTS route_runs
(
    account       UInt64,
    vehicle       UInt64,
    id            UInt64,
    revision      UInt32,
    start_at      DateTime64(3, 'UTC'),
    end_at        DateTime64(3, 'UTC'),
    local_date    Date,
    open          Bool,
    deleted       Bool,
    late          Bool,
    updated_at    DateTime64(3, 'UTC'),
    plan          UInt64,
    stops         UInt16,
    reached       UInt16,
    missed        UInt16,
    off_ms        Int64,
    closed_reason LowCardinality(String),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
