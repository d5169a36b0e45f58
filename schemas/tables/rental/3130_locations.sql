-- Grain: one location, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS locations
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    code         String DEFAULT JSONExtractString(body, 'code'),
    timezone     LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    line1        String DEFAULT JSONExtractString(body, 'address', 'line1'),
    city         String DEFAULT JSONExtractString(body, 'address', 'city'),
    region       String DEFAULT JSONExtractString(body, 'address', 'region'),
    country      LowCardinality(String) DEFAULT JSONExtractString(body, 'address', 'country'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
