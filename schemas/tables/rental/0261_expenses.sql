-- Grain: one expense, its newest revision. Key: (account, id). Fed by expenses_feed from record_log, which keeps every version.
-- Serves: lists with filters. Read with FINAL. amount is in minor units of the currency, with tax. body holds the whole record.
CREATE TABLE IF NOT EXISTS expenses
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String),
    category     LowCardinality(String),
    vehicle_id   String,
    booking_id   String,
    vendor       String,
    description  String,
    amount       Int64,
    tax          Int64,
    currency     LowCardinality(String),
    incurred_on  String,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
