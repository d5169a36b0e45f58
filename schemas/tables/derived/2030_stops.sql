-- Grain: one stop, its newest revision. Key: (account, vehicle, start_at, id). Fed by stops_feed from derivations. Read
-- with FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's zone. Serves: lists, reports, BI. body
-- holds all of it.
CREATE TABLE IF NOT EXISTS stops
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
    lat           Float64,
    lng           Float64,
    idle_s        Float64,
    closed_reason LowCardinality(String),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
