-- Grain: one entry of the catalogue of service tasks, its newest revision. Key: (account, id). Filled from
-- record_log, which keeps every revision. Serves: lists with filters, BI, and whether a schedule has a rule at
-- all. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS service_tasks
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    category     LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    intervals    Bool
        DEFAULT JSONExtractInt(body, 'every_mi') > 0 OR JSONExtractInt(body, 'every_days') > 0
            OR JSONExtractInt(body, 'every_months') > 0 OR JSONExtractInt(body, 'every_engine_hours') > 0,
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
