-- Grain: one saved report, its newest revision. Key: (account, id). Filled from record_log, which keeps every revision.
-- Serves: lists with filters, which reports are due. Read with FINAL. next_at is when it is made next, 1970 if never;
-- body holds the whole record.
CREATE TABLE IF NOT EXISTS saved_reports
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    report       LowCardinality(String) DEFAULT JSONExtractString(body, 'report'),
    next_at      DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'next_at'), 3, 'UTC'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    next_run_at  DateTime64(3, 'UTC') ALIAS next_at,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
