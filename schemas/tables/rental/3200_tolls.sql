-- Grain: one toll or fine, its newest revision. Key: (account, id). Filled from record_log. Serves: lists with
-- filters, tolls that wait for a booking, BI. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS tolls
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    kind         LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    plate        String DEFAULT JSONExtractString(body, 'plate'),
    region       LowCardinality(String) DEFAULT JSONExtractString(body, 'region'),
    agency       String DEFAULT JSONExtractString(body, 'agency'),
    reference    String DEFAULT JSONExtractString(body, 'reference'),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    booking_id   String DEFAULT JSONExtractString(body, 'booking_id'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    amount       Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    admin_fee    Int64 DEFAULT JSONExtractInt(body, 'admin_fee', 'amount'),
    occurred_at  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'occurred_at'), 3, 'UTC'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
