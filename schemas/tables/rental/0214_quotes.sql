-- Grain: one quote, its newest revision. Key: (account, id). Fed by quotes_feed from record_log, which keeps every version. Serves: lists
-- with filters. Read with FINAL. total_amount is in minor units of the currency. body holds the whole record, with the frozen price.
CREATE TABLE IF NOT EXISTS quotes
(
    account            UInt64,
    id                 UInt64,
    revision           UInt64,
    created_at         DateTime64(3, 'UTC'),
    updated_at         DateTime64(3, 'UTC'),
    archived_at        Nullable(DateTime64(3, 'UTC')),
    customer_id        String,
    vehicle_class_id   String,
    vehicle_id         String,
    rate_plan_id       String,
    pickup_location_id String,
    channel            LowCardinality(String),
    pickup_at          DateTime64(3, 'UTC'),
    return_at          DateTime64(3, 'UTC'),
    expires_at         DateTime64(3, 'UTC'),
    booking_id         String,
    total_amount       Int64,
    currency           LowCardinality(String),
    external_ids       Array(String),
    body               String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
