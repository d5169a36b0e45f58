-- Grain: one reminder: a cycle of a schedule for a vehicle, its newest revision. Key: (account, id). Filled from
-- record_log, which keeps every revision. Serves: lists with filters, BI, what is due of vehicles, and
-- maintenance_pending. due_on and forecast_due_on are local dates as text, empty for none; watch_* say when to
-- look at it again. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS reminders
(
    account                   UInt64,
    id                        UInt64,
    revision                  UInt64,
    created_at                DateTime64(3, 'UTC'),
    updated_at                DateTime64(3, 'UTC'),
    archived_at               Nullable(DateTime64(3, 'UTC')),
    schedule_id               String DEFAULT JSONExtractString(body, 'schedule_id'),
    schedule                  UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'schedule_id'), '[0-9]+')),
    task_id                   String DEFAULT JSONExtractString(body, 'task_id'),
    vehicle_id                String DEFAULT JSONExtractString(body, 'vehicle_id'),
    vehicle                   UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'vehicle_id'), '[0-9]+')),
    cycle                     UInt32 DEFAULT toUInt32(JSONExtractInt(body, 'cycle')),
    stage                     LowCardinality(String) DEFAULT JSONExtractString(body, 'stage'),
    stage_since               DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'stage_since'), 3, 'UTC'),
    due_on                    String DEFAULT JSONExtractString(body, 'due_on'),
    forecast_due_on           String DEFAULT JSONExtractString(body, 'forecast_due_on'),
    due_mi                    Nullable(Float64) DEFAULT JSONExtract(body, 'due_mi', 'Nullable(Float64)'),
    due_engine_hours          Nullable(Float64) DEFAULT JSONExtract(body, 'due_engine_hours', 'Nullable(Float64)'),
    snoozed_until             DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'snoozed_until'), 3, 'UTC'),
    work_order_id             String DEFAULT JSONExtractString(body, 'work_order_id'),
    resolved_by_work_order_id String DEFAULT JSONExtractString(body, 'resolved_by_work_order_id'),
    watch_at                  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'watch_at'), 3, 'UTC'),
    watch_mi                  Nullable(Float64) DEFAULT JSONExtract(body, 'watch_mi', 'Nullable(Float64)'),
    watch_engine_hours        Nullable(Float64) DEFAULT JSONExtract(body, 'watch_engine_hours', 'Nullable(Float64)'),
    basis                     Array(UInt64) DEFAULT JSONExtract(body, 'basis', 'Array(UInt64)'),
    external_ids              Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body                      String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
