-- Grain: one work order, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters, BI: cost and downtime by vehicle. Read with FINAL. body holds the whole
-- record. number is what people call it by, like W-1042.
CREATE TABLE IF NOT EXISTS work_orders
(
    account          UInt64,
    id               UInt64,
    revision         UInt64,
    created_at       DateTime64(3, 'UTC'),
    updated_at       DateTime64(3, 'UTC'),
    archived_at      Nullable(DateTime64(3, 'UTC')),
    number           String DEFAULT JSONExtractString(body, 'number'),
    vehicle_id       String DEFAULT JSONExtractString(body, 'vehicle_id'),
    type             LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    priority         LowCardinality(String) DEFAULT JSONExtractString(body, 'priority'),
    status           LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    status_since     DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    title            String DEFAULT JSONExtractString(body, 'title'),
    description      String DEFAULT JSONExtractString(body, 'description'),
    vendor           String DEFAULT JSONExtractString(body, 'vendor'),
    assignee         String DEFAULT JSONExtractString(body, 'assignee'),
    invoice_ref      String DEFAULT JSONExtractString(body, 'invoice_ref'),
    scheduled_start  DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_from'), 3, 'UTC'),
    scheduled_end    DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_until'), 3, 'UTC'),
    started_at       DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'started_at'), 3, 'UTC'),
    completed_at     DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'completed_at'), 3, 'UTC'),
    blocked_until    DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC'),
    total_amount     Int64 DEFAULT JSONExtractInt(body, 'total', 'amount'),
    currency         LowCardinality(String) DEFAULT JSONExtractString(body, 'total', 'currency'),
    downtime_minutes UInt32 DEFAULT toUInt32(JSONExtractInt(body, 'downtime_minutes')),
    warranty_claim   Bool DEFAULT JSONExtractBool(body, 'warranty_claim'),
    external_ids     Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body             String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
