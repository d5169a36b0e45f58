-- Grain: one note about a customer, its newest revision. Key: (account, id). Filled from record_log. Personal
-- data: erasure deletes older rows too. Serves: the notes of a customer. Read with FINAL. body holds the whole
-- record.
CREATE TABLE IF NOT EXISTS customer_notes
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    customer_id  String DEFAULT JSONExtractString(body, 'customer_id'),
    text         String DEFAULT JSONExtractString(body, 'text'),
    author       String DEFAULT JSONExtractString(body, 'author'),
    pinned       LowCardinality(String) DEFAULT if(JSONExtractBool(body, 'pinned'), 'true', 'false'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
