-- Grain: when an API key was last used; one row a minute at most from each process. Key: (account, key); the row with
-- the highest time wins. Serves: last_used_at. Read with FINAL. Apart from api_keys, whose rows are revisions.
CREATE TABLE IF NOT EXISTS key_uses
(
    account UInt64,
    key     UInt64,
    at      DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, key)
TTL toDateTime(at) + INTERVAL 2 YEAR
SETTINGS non_replicated_deduplication_window = 1000
