-- Grain: one expense, its newest revision. Key: (account, id). Filled from record_log, which keeps every revision.
-- Serves: lists with filters. Read with FINAL. amount is in minor units of the currency, with tax. body holds the
-- whole record.
CREATE TABLE IF NOT EXISTS expenses
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    category     LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    booking_id   String DEFAULT JSONExtractString(body, 'booking_id'),
    vendor       String DEFAULT JSONExtractString(body, 'vendor'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    amount       Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    tax          Int64 DEFAULT JSONExtractInt(body, 'tax', 'amount'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    incurred_on  String DEFAULT JSONExtractString(body, 'incurred_on'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
