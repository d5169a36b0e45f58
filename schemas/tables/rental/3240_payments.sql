-- Grain: one payment, its newest revision. Key: (account, id). Filled from record_log, which keeps every revision.
-- Serves: lists with filters, and what was received and given back for bookings. Read with FINAL. amount and
-- refunded are in minor units of the currency; refunded is what was given back of the amount. body holds the whole
-- record. number is what people call it by, like P-1042; given once in the account.
CREATE TABLE IF NOT EXISTS payments
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    number       String DEFAULT JSONExtractString(body, 'number'),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    direction    LowCardinality(String) DEFAULT JSONExtractString(body, 'direction'),
    method       LowCardinality(String) DEFAULT JSONExtractString(body, 'method'),
    provider     LowCardinality(String) DEFAULT JSONExtractString(body, 'provider'),
    provider_ref String DEFAULT JSONExtractString(body, 'provider_ref'),
    booking_id   String DEFAULT JSONExtractString(body, 'booking_id'),
    customer_id  String DEFAULT JSONExtractString(body, 'customer_id'),
    vehicle_id   String DEFAULT JSONExtractString(body, 'booked_for', 'vehicle_id'),
    amount       Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    refunded     Int64
        DEFAULT toInt64(arraySum(r -> JSONExtractInt(r, 'amount', 'amount'), JSONExtractArrayRaw(body, 'refunds'))),
    fee          Int64 DEFAULT JSONExtractInt(body, 'fee', 'amount'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    received_at  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'received_at'), 3, 'UTC'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
