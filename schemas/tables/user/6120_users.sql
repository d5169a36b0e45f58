-- Grain: one person who signs in to an account, their newest revision. Key: (account, id). Filled from record_log, which
-- keeps every revision. Serves: lists with filters; whose an address is, over all accounts. Read with FINAL. body holds
-- the whole record, with secrets hashed or sealed.
CREATE TABLE IF NOT EXISTS users
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    email        String DEFAULT lowerUTF8(JSONExtractString(body, 'email')),
    role         LowCardinality(String) DEFAULT JSONExtractString(body, 'role'),
    disabled     Bool DEFAULT JSONExtractBool(body, 'disabled'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX email_bloom email TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
