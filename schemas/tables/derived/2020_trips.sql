-- Grain: one trip, its newest revision. Key: (account, vehicle, start_at, id). Fed by trips_feed from derivations. Read
-- with FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's zone. Serves: lists, reports, BI. body
-- holds all of it. What was not recorded: of distance_m distance_estimated_m, as nothing was heard on the way, and
-- unrecorded_s, the time of such ways. unrecorded is a way of its own between two places, and no trip that anybody saw.
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
    distance_estimated_m Float64 DEFAULT JSONExtractFloat(body, 'distance_estimated_m'),
    moving_s      Float64,
    unrecorded_s  Float64 DEFAULT JSONExtractFloat(body, 'unrecorded_ms') / 1000,
    unrecorded    Bool DEFAULT JSONExtractBool(body, 'unrecorded'),
    idle_s        Float64,
    max_speed_mps Float64,
    closed_reason LowCardinality(String),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
