-- Grain: one issue of a vehicle, its newest revision. Key: (account, id). Filled from record_log, which keeps
-- every revision. Serves: lists with filters, BI, and which vehicles have an open one that is critical for safety.
-- Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS issues
(
    account       UInt64,
    id            UInt64,
    revision      UInt64,
    created_at    DateTime64(3, 'UTC'),
    updated_at    DateTime64(3, 'UTC'),
    archived_at   Nullable(DateTime64(3, 'UTC')),
    vehicle_id    String DEFAULT JSONExtractString(body, 'vehicle_id'),
    severity      LowCardinality(String) DEFAULT JSONExtractString(body, 'severity'),
    category      LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    status        LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    status_since  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    description   String DEFAULT JSONExtractString(body, 'description'),
    reported_by   String DEFAULT JSONExtractString(body, 'reported_by'),
    booking_id    String DEFAULT JSONExtractString(body, 'booking_id'),
    work_order_id String DEFAULT JSONExtractString(body, 'work_order_id'),
    external_ids  Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body          String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
