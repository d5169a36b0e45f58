-- Grain: one paper of a customer, its newest revision. Key: (account, id). Fed by documents_feed from record_log; the file itself
-- stands in document_files. Personal data: erasure deletes older rows too. Serves: the documents of a customer, those about to
-- expire. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS documents
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    customer_id  String,
    kind         LowCardinality(String),
    name         String,
    expires_on   String,
    content_type LowCardinality(String),
    size_bytes   UInt64,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
