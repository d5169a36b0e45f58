-- Grain: one quote, its newest revision. Key: (account, id). Filled from record_log, which keeps every revision.
-- Serves: lists with filters. Read with FINAL. total_amount is in minor units of the currency. body holds the
-- whole record, with the frozen price. number is what people call it by, like Q-1042; given once in the account.
CREATE TABLE IF NOT EXISTS quotes
(
    account            UInt64,
    id                 UInt64,
    revision           UInt64,
    created_at         DateTime64(3, 'UTC'),
    updated_at         DateTime64(3, 'UTC'),
    archived_at        Nullable(DateTime64(3, 'UTC')),
    number             String DEFAULT JSONExtractString(body, 'number'),
    customer_id        String DEFAULT JSONExtractString(body, 'customer_id'),
    vehicle_class_id   String DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    vehicle_id         String DEFAULT JSONExtractString(body, 'vehicle_id'),
    rate_plan_id       String DEFAULT JSONExtractString(body, 'rate_plan_id'),
    pickup_location_id String DEFAULT JSONExtractString(body, 'pickup_location_id'),
    channel            LowCardinality(String) DEFAULT JSONExtractString(body, 'channel'),
    pickup_at          DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC'),
    return_at          DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC'),
    expires_at         DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    booking_id         String DEFAULT JSONExtractString(body, 'booking_id'),
    total_amount       Int64 DEFAULT JSONExtractInt(body, 'rate_snapshot', 'totals', 'total', 'amount'),
    currency           LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_snapshot', 'currency'),
    external_ids       Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body               String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
