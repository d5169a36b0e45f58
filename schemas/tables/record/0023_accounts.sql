-- Grain: one account (tenant), its newest revision; account equals id. Fed by accounts_feed. Serves: look-up by name,
-- settings that the pipeline and the interface read. Read with FINAL.
CREATE TABLE IF NOT EXISTS accounts
(
    account        UInt64,
    id             UInt64,
    revision       UInt64,
    created_at     DateTime64(3, 'UTC'),
    updated_at     DateTime64(3, 'UTC'),
    archived_at    Nullable(DateTime64(3, 'UTC')),
    name           String,
    timezone       LowCardinality(String),
    retention_days UInt32,
    external_ids   Array(String),
    body           String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
