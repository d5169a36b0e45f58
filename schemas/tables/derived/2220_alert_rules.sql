-- Grain: one alert rule, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters, and what query.Policies polls. Read with FINAL. body holds the whole
-- record.
CREATE TABLE IF NOT EXISTS alert_rules
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    kind         LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    severity     LowCardinality(String) DEFAULT JSONExtractString(body, 'severity'),
    enabled      Bool DEFAULT JSONExtractBool(body, 'enabled'),
    tags         Array(String) DEFAULT JSONExtract(body, 'scope', 'tags', 'Array(String)'),
    geofence_ids Array(String) DEFAULT JSONExtract(body, 'geofence_ids', 'Array(String)'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
