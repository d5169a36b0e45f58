-- Grain: one key, card or tag by which drivers log in, its newest revision. Key: (account, id). Filled from
-- record_log, which keeps every revision. Serves: lists with filters, whose the tags of a span of positions were.
-- Read with FINAL. driver_id are the ids of the customers that have or had it; body holds the whole record, with the
-- times of each.
CREATE TABLE IF NOT EXISTS driver_tags
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    tag          String DEFAULT JSONExtractString(body, 'tag'),
    medium       LowCardinality(String) DEFAULT JSONExtractString(body, 'medium'),
    label        String DEFAULT JSONExtractString(body, 'label'),
    driver_id    Array(String)
        DEFAULT arrayMap(h -> JSONExtractString(h, 'driver_id'), JSONExtractArrayRaw(body, 'holders')),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
