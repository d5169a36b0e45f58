-- Grain: one meter reading, its newest revision. Key: (account, id). Fed by meter_readings_feed from record_log; a replayed
-- or late revision loses against a higher one. Serves: lists with filters, BI. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS meter_readings
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    vehicle_id   String,
    kind         LowCardinality(String),
    value        Float64,
    recorded_at  DateTime64(3, 'UTC'),
    source       LowCardinality(String),
    source_id    String,
    voided       Bool,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
