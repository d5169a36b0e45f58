-- Grain: one acknowledgement of an alert, its newest revision. Key: (account, id); the id is the alert's. Filled
-- from record_log. Serves: alerts as they are shown, filtering by acknowledged. Read with FINAL. actor is who
-- wrote the revision, of which there is one.
CREATE TABLE IF NOT EXISTS alert_acks
(
    account     UInt64,
    id          UInt64,
    revision    UInt64,
    created_at  DateTime64(3, 'UTC'),
    updated_at  DateTime64(3, 'UTC'),
    archived_at Nullable(DateTime64(3, 'UTC')),
    actor       String,
    note        String DEFAULT JSONExtractString(body, 'note'),
    body        String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
