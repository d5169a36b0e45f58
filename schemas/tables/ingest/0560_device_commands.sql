-- Grain: one command to a tracker, its newest revision. Key: (account, id). Fed by device_commands_feed from record_log, which keeps
-- every version. Serves: lists with filters, and which commands are to be sent or have waited too long. Read with FINAL. body holds
-- the whole record.
CREATE TABLE IF NOT EXISTS device_commands
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String),
    type         LowCardinality(String),
    transport    LowCardinality(String),
    device_id    String,
    vehicle_id   String,
    requested_by String,
    expires_at   DateTime64(3, 'UTC'),
    try_at       DateTime64(3, 'UTC'),
    status_since DateTime64(3, 'UTC'),
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX device_id_bloom device_id TYPE bloom_filter GRANULARITY 1,
    INDEX expires_at_minmax expires_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
