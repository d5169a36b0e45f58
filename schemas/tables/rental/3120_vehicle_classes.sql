-- Grain: one class of vehicles, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters. Read with FINAL. daily_rate is in minor units of the currency. body holds
-- the whole record.
CREATE TABLE IF NOT EXISTS vehicle_classes
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    code         String DEFAULT JSONExtractString(body, 'code'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    rank         UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'rank')),
    rate_plan_id String DEFAULT JSONExtractString(body, 'rate_plan_id'),
    daily_rate   Int64 DEFAULT JSONExtractInt(body, 'daily_rate', 'amount'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'daily_rate', 'currency'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
