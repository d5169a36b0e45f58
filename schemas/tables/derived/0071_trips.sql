-- Grain: one trip, its newest revision. Key: (account, vehicle, start_at, id). Fed by trips_feed from derivations. Read with
-- FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's zone. Serves: lists, reports, BI. body holds all of it.
CREATE TABLE IF NOT EXISTS trips
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
    device        UInt64,
    start_lat     Float64,
    start_lng     Float64,
    end_lat       Float64,
    end_lng       Float64,
    distance_m    Float64,
    moving_s      Float64,
    idle_s        Float64,
    max_speed_mps Float64,
    closed_reason LowCardinality(String),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
