-- Grain: one webhook endpoint, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters; who is told of events. Read with FINAL. body holds the whole record, with the
-- secrets and the values of headers sealed.
CREATE TABLE IF NOT EXISTS webhook_endpoints
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    url          String DEFAULT JSONExtractString(body, 'url'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
