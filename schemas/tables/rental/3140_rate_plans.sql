-- Grain: one rate plan, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters, and which plans fit a booking. Read with FINAL.
-- channels and vehicle_class_ids are empty for any; valid_from and valid_to are local days (YYYY-MM-DD), both
-- included, '' for no bound. body holds the whole record. A plan is enabled unless it says otherwise.
CREATE TABLE IF NOT EXISTS rate_plans
(
    account           UInt64,
    id                UInt64,
    revision          UInt64,
    created_at        DateTime64(3, 'UTC'),
    updated_at        DateTime64(3, 'UTC'),
    archived_at       Nullable(DateTime64(3, 'UTC')),
    name              String DEFAULT JSONExtractString(body, 'name'),
    enabled           Bool DEFAULT NOT JSONHas(body, 'enabled') OR JSONExtractBool(body, 'enabled'),
    channels          Array(String) DEFAULT JSONExtract(body, 'channels', 'Array(String)'),
    vehicle_class_ids Array(String) DEFAULT JSONExtract(body, 'vehicle_class_ids', 'Array(String)'),
    valid_from        String DEFAULT JSONExtractString(body, 'valid_from'),
    valid_to          String DEFAULT JSONExtractString(body, 'valid_until'),
    priority          UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'priority')),
    currency          LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    daily_rate        Int64 DEFAULT JSONExtractInt(body, 'daily_rate', 'amount'),
    external_ids      Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body              String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
