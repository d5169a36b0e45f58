-- Grain: one alert rule, its newest revision. Key: (account, id). Fed by alert_rules_feed from record_log, which keeps
-- every version. Serves: lists with filters, and what query.Policies polls. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS alert_rules
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String,
    description  String,
    kind         LowCardinality(String),
    severity     LowCardinality(String),
    enabled      Bool,
    tags         Array(String),
    geofence_ids Array(String),
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
