-- Grain: one share link, its newest revision. Key: (account, id). Filled from record_log, which keeps every revision.
-- Serves: lists with filters, and whose link somebody opens (by the SHA-256 of its secret, over all accounts). Read with
-- FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS share_links
(
    account       UInt64,
    id            UInt64,
    revision      UInt64,
    created_at    DateTime64(3, 'UTC'),
    updated_at    DateTime64(3, 'UTC'),
    archived_at   Nullable(DateTime64(3, 'UTC')),
    vehicle_id    String DEFAULT JSONExtractString(body, 'vehicle_id'),
    booking_id    String DEFAULT JSONExtractString(body, 'booking_id'),
    expires_at    DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    note          String DEFAULT JSONExtractString(body, 'note'),
    secret_sha256 String DEFAULT JSONExtractString(body, 'secret_sha256'),
    external_ids  Array(String) DEFAULT [],
    body          String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX secret_bloom secret_sha256 TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
