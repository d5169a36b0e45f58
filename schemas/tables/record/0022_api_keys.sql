-- Grain: one API key, its newest revision. Key: (account, id). Filled from record_log. Serves: look-up by the
-- public part of a key, lists. body holds the SHA-256 of the secret, never the secret. Read with FINAL.
CREATE TABLE IF NOT EXISTS api_keys
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    token_id     String DEFAULT JSONExtractString(body, 'token_id'),
    scopes       Array(String) DEFAULT JSONExtract(body, 'scopes', 'Array(String)'),
    expires_at   Nullable(DateTime64(3, 'UTC'))
        DEFAULT parseDateTime64BestEffortOrNull(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    revoked_at   Nullable(DateTime64(3, 'UTC'))
        DEFAULT parseDateTime64BestEffortOrNull(JSONExtractString(body, 'revoked_at'), 3, 'UTC'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX token_id_bloom token_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
