-- Grain: one issue of a vehicle, its newest revision. Key: (account, id). Fed by issues_feed from record_log, which
-- keeps every revision. Serves: lists with filters, BI, and which vehicles have an open one that is critical for
-- safety. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS issues
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    vehicle_id   String,
    severity     LowCardinality(String),
    category     LowCardinality(String),
    status       LowCardinality(String),
    status_since DateTime64(3, 'UTC'),
    description  String,
    reported_by  String,
    booking_id   String,
    work_order_id String,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
