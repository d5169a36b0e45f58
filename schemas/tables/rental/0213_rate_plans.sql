-- Grain: one rate plan, its newest revision. Key: (account, id). Fed by rate_plans_feed from record_log, which keeps every version.
-- Serves: lists with filters, and which plans fit a booking (rate_plans_fitting). Read with FINAL. channels and vehicle_class_ids are empty for
-- any; valid_from and valid_to are local days (YYYY-MM-DD), both included, '' for no bound. body holds the whole record.
CREATE TABLE IF NOT EXISTS rate_plans
(
    account           UInt64,
    id                UInt64,
    revision          UInt64,
    created_at        DateTime64(3, 'UTC'),
    updated_at        DateTime64(3, 'UTC'),
    archived_at       Nullable(DateTime64(3, 'UTC')),
    name              String,
    enabled           Bool,
    channels          Array(String),
    vehicle_class_ids Array(String),
    valid_from        String,
    valid_to          String,
    priority          UInt16,
    currency          LowCardinality(String),
    daily_rate        Int64,
    external_ids      Array(String),
    body              String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
