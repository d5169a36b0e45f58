-- Grain: one class of vehicles, its newest revision. Key: (account, id). Fed by vehicle_classes_feed from record_log, which keeps
-- every version. Serves: lists with filters. Read with FINAL. daily_rate is in minor units of the currency. body holds the whole record.
CREATE TABLE IF NOT EXISTS vehicle_classes
(
    account         UInt64,
    id              UInt64,
    revision        UInt64,
    created_at      DateTime64(3, 'UTC'),
    updated_at      DateTime64(3, 'UTC'),
    archived_at     Nullable(DateTime64(3, 'UTC')),
    name            String,
    code            String,
    description     String,
    rank            UInt16,
    rate_plan_id    String,
    daily_rate      Int64,
    currency        LowCardinality(String),
    overbooking_pct UInt8,
    external_ids    Array(String),
    body            String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
