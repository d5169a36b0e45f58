-- Grain: one moment or span of unsafe driving, its newest revision. Key: (account, vehicle, start_at, id). Fed by
-- driving_events_feed from derivations. Read with FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's
-- zone. Serves: lists, reports, BI. body holds all of it.
CREATE TABLE IF NOT EXISTS driving_events
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
    what          LowCardinality(String),
    source        LowCardinality(String),
    value         Float64,
    speed_mps     Float64,
    lat           Float64,
    lng           Float64,
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
