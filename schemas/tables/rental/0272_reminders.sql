-- Grain: one reminder: a cycle of a schedule for a vehicle, its newest revision. Key: (account, id). Fed by
-- reminders_feed from record_log, which keeps every revision. Serves: lists with filters, BI, what is due of
-- vehicles, and maintenance_pending. due_on and forecast_due_on are local dates as text, empty for none; watch_* say
-- when to look at it again. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS reminders
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    schedule_id  String,
    schedule     UInt64,
    task_id      String,
    vehicle_id   String,
    vehicle      UInt64,
    cycle        UInt32,
    stage        LowCardinality(String),
    stage_since  DateTime64(3, 'UTC'),
    due_on       String,
    forecast_due_on String,
    due_mi       Nullable(Float64),
    due_engine_hours Nullable(Float64),
    snoozed_until DateTime64(3, 'UTC'),
    work_order_id String,
    resolved_by_work_order_id String,
    watch_at     DateTime64(3, 'UTC'),
    watch_mi     Nullable(Float64),
    watch_engine_hours Nullable(Float64),
    basis        Array(UInt64),
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
