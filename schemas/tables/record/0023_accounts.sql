-- Grain: one account (tenant), its newest revision; account equals id. Filled from record_log. Serves: look-up by
-- name, settings that the pipeline and the interface read. Read with FINAL.
CREATE TABLE IF NOT EXISTS accounts
(
    account        UInt64,
    id             UInt64,
    revision       UInt64,
    created_at     DateTime64(3, 'UTC'),
    updated_at     DateTime64(3, 'UTC'),
    archived_at    Nullable(DateTime64(3, 'UTC')),
    name           String DEFAULT JSONExtractString(body, 'name'),
    timezone       LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    retention_days UInt32 DEFAULT toUInt32(JSONExtractUInt(body, 'retention_days')),
    external_ids   Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body           String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
