-- Grain: one work order, its newest revision. Key: (account, id). Fed by work_orders_feed from record_log, which
-- keeps every revision. Serves: lists with filters, BI: cost and downtime by vehicle. Read with FINAL. body holds the
-- whole record.
CREATE TABLE IF NOT EXISTS work_orders
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    number       UInt64,
    vehicle_id   String,
    type         LowCardinality(String),
    priority     LowCardinality(String),
    status       LowCardinality(String),
    status_since DateTime64(3, 'UTC'),
    title        String,
    description  String,
    vendor       String,
    assignee     String,
    invoice_ref  String,
    scheduled_start DateTime64(3, 'UTC'),
    scheduled_end DateTime64(3, 'UTC'),
    started_at   DateTime64(3, 'UTC'),
    completed_at DateTime64(3, 'UTC'),
    blocked_until DateTime64(3, 'UTC'),
    total_amount Int64,
    currency     LowCardinality(String),
    downtime_minutes UInt32,
    warranty_claim Bool,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
