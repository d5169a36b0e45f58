-- Grain: one OAuth client, its newest revision. Key: (account, id). Filled from record_log. Serves: which client asks for
-- a token, of whatever account, by its id; lists. body holds the SHA-256 of its secrets, never a secret. Read with FINAL.
CREATE TABLE IF NOT EXISTS oauth_clients
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    type         LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX id_bloom id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
