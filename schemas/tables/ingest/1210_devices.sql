-- Grain: one tracker, its newest revision. Key: (account, id). Filled from record_log. Serves: lists, and the
-- registry that the pipeline reads: the account of a fix comes from here. Read with FINAL.
CREATE TABLE IF NOT EXISTS devices
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    unique_id    String DEFAULT JSONExtractString(body, 'unique_id'),
    name         String DEFAULT JSONExtractString(body, 'name'),
    protocol     LowCardinality(String) DEFAULT JSONExtractString(body, 'protocol'),
    model        String DEFAULT JSONExtractString(body, 'model'),
    vehicle_ids  Array(String)
        DEFAULT arrayMap(a -> JSONExtractString(a, 'vehicle_id'), JSONExtractArrayRaw(body, 'assignments')),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX unique_id_bloom unique_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
