-- Grain: one maintenance schedule, its newest revision. Key: (account, id). Filled from record_log, which keeps
-- every revision. Serves: lists with filters, BI, and maintenance_pending, which joins by task, vehicle, class and
-- tag. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS maintenance_schedules
(
    account          UInt64,
    id               UInt64,
    revision         UInt64,
    created_at       DateTime64(3, 'UTC'),
    updated_at       DateTime64(3, 'UTC'),
    archived_at      Nullable(DateTime64(3, 'UTC')),
    task_id          String DEFAULT JSONExtractString(body, 'task_id'),
    task             UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'task_id'), '[0-9]+')),
    vehicle_id       String DEFAULT JSONExtractString(body, 'vehicle_id'),
    vehicle_class_id String DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    tag              String DEFAULT JSONExtractString(body, 'tag'),
    repeat           LowCardinality(String) DEFAULT JSONExtractString(body, 'repeat'),
    fixed_due_on     String DEFAULT JSONExtractString(body, 'fixed_due_on'),
    intervals        Bool
        DEFAULT JSONExtractInt(body, 'every_mi') > 0 OR JSONExtractInt(body, 'every_days') > 0
            OR JSONExtractInt(body, 'every_months') > 0 OR JSONExtractInt(body, 'every_engine_hours') > 0,
    paused           Bool DEFAULT JSONExtractBool(body, 'paused'),
    external_ids     Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body             String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
