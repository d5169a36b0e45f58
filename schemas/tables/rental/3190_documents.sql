-- Grain: one paper of a customer, its newest revision. Key: (account, id). Filled from record_log; the file itself
-- stands in document_files. Personal data: erasure deletes older rows too. Serves: the documents of a customer,
-- those about to expire. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS documents
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    customer_id  String DEFAULT JSONExtractString(body, 'customer_id'),
    kind         LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    name         String DEFAULT JSONExtractString(body, 'name'),
    expires_on   String DEFAULT JSONExtractString(body, 'expires_on'),
    content_type LowCardinality(String) DEFAULT JSONExtractString(body, 'content_type'),
    size_bytes   UInt64 DEFAULT JSONExtractUInt(body, 'size_bytes'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
