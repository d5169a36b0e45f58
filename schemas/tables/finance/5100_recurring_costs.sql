-- Grain: one recurring cost, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters, and the duty that makes expenses by schedule. Read with FINAL. amount is in
-- minor units of the currency. body holds the whole record.
CREATE TABLE IF NOT EXISTS recurring_costs
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    category     LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    location_id  String DEFAULT JSONExtractString(body, 'location_id'),
    vendor       String DEFAULT JSONExtractString(body, 'vendor'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    every        LowCardinality(String) DEFAULT JSONExtractString(body, 'every'),
    starts_on    String DEFAULT JSONExtractString(body, 'from'),
    ends_on      String DEFAULT JSONExtractString(body, 'until'),
    amount       Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
