-- Grain: one payment, its newest revision. Key: (account, id). Fed by payments_feed from record_log, which keeps every version.
-- Serves: lists with filters, and what was received and given back for bookings. Read with FINAL. amount and refunded are in minor
-- units of the currency; refunded is what was given back of the amount. body holds the whole record.
CREATE TABLE IF NOT EXISTS payments
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String),
    direction    LowCardinality(String),
    method       LowCardinality(String),
    provider     LowCardinality(String),
    provider_ref String,
    booking_id   String,
    customer_id  String,
    vehicle_id   String,
    amount       Int64,
    refunded     Int64,
    fee          Int64,
    currency     LowCardinality(String),
    received_at  DateTime64(3, 'UTC'),
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
