-- Grain: one command to a tracker, its newest revision. Key: (account, id). Filled from record_log, which keeps
-- every revision. Serves: lists with filters, and which commands are to be sent or have waited too long. Read with
-- FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS device_commands
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    type         LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    transport    LowCardinality(String) DEFAULT JSONExtractString(body, 'transport'),
    device_id    String DEFAULT JSONExtractString(body, 'device_id'),
    vehicle_id   String DEFAULT JSONExtractString(body, 'vehicle_id'),
    requested_by String DEFAULT JSONExtractString(body, 'requested_by'),
    expires_at   DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    try_at       DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'try_at'), 3, 'UTC'),
    status_since DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    INDEX device_id_bloom device_id TYPE bloom_filter GRANULARITY 1,
    INDEX expires_at_minmax expires_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
