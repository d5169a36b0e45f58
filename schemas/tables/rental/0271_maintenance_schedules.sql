-- Grain: one maintenance schedule, its newest revision. Key: (account, id). Fed by maintenance_schedules_feed from
-- record_log, which keeps every revision. Serves: lists with filters, BI, and maintenance_pending, which joins by
-- task, vehicle, class and tag. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS maintenance_schedules
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    task_id      String,
    task         UInt64,
    vehicle_id   String,
    vehicle_class_id String,
    tag          String,
    repeat       LowCardinality(String),
    fixed_due_on String,
    intervals    Bool,
    paused       Bool,
    external_ids Array(String),
    body         String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
