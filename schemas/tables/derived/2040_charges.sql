-- Grain: one charging session, its newest revision. Key: (account, vehicle, start_at, id). Fed by charges_feed from
-- derivations. Read with FINAL and WHERE NOT deleted. local_date: of start_at in the vehicle's zone. Serves: lists,
-- reports, BI. body holds all of it.
CREATE TABLE IF NOT EXISTS charges
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
    soc_start_pct Nullable(Float64),
    soc_end_pct   Nullable(Float64),
    energy_kwh    Nullable(Float64),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000
