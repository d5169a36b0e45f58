-- Grain: one inspection of a vehicle outside a handover, its newest revision. Key: (account, id). Filled from
-- record_log, which keeps every revision. Serves: lists with filters, BI. Read with FINAL. body holds the whole
-- record. Those of handovers are in their booking.
CREATE TABLE IF NOT EXISTS inspections
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    type         LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    template     LowCardinality(String) DEFAULT JSONExtractString(body, 'template'),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    status_since DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    submitted_at DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'submitted_at'), 3, 'UTC'),
    booking_id   String DEFAULT JSONExtractString(body, 'booking_id'),
    signed_by    String DEFAULT JSONExtractString(body, 'signed_by'),
    notes        String DEFAULT JSONExtractString(body, 'notes'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
