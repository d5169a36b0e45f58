-- Grain: what one person gave to one OAuth client at one time, its newest revision. Key: (account, id). Filled from
-- record_log. Serves: who has access, by client and by person. Read with FINAL. Archived it is taken away.
CREATE TABLE IF NOT EXISTS oauth_grants
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    client_id    String DEFAULT JSONExtractString(body, 'client_id'),
    user_id      String DEFAULT JSONExtractString(body, 'user_id'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
