-- Grain: one meter reading, its newest revision. Key: (account, id). Filled from record_log; a replayed or late
-- revision loses against a higher one. Serves: lists with filters, BI. Read with FINAL. body holds the whole
-- record.
CREATE TABLE IF NOT EXISTS meter_readings
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    kind         LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    value        Float64 DEFAULT JSONExtractFloat(body, 'value'),
    recorded_at  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC'),
    source       LowCardinality(String) DEFAULT JSONExtractString(body, 'source'),
    source_id    String DEFAULT JSONExtractString(body, 'source_id'),
    voided       Bool DEFAULT JSONExtractBool(body, 'voided'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
