-- Grain: one toll or fine, its newest revision. Key: (account, id). Fed by tolls_feed from record_log. Serves: lists with filters, tolls that
-- wait for a booking, BI. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS tolls
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    kind         LowCardinality(String),
    status       LowCardinality(String),
    plate        String,
    region       LowCardinality(String),
    agency       String,
    reference    String,
    vehicle_id   String,
    booking_id   String,
    currency     LowCardinality(String),
    amount       Int64,
    admin_fee    Int64,
    occurred_at  DateTime64(3, 'UTC'),
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
