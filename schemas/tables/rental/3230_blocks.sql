-- Grain: one block of a vehicle's calendar, its newest revision. Key: (account, id). Filled from record_log; a
-- replayed or late revision loses against a higher one. Serves: lists with filters, the blocks that begin or end,
-- what a vehicle may be moved for. Read with FINAL. body holds the whole record. to_location_id is where a
-- transfer brings its vehicle, '' of a block that brings it nowhere.
CREATE TABLE IF NOT EXISTS blocks
(
    account        UInt64,
    id             UInt64,
    revision       UInt64,
    created_at     DateTime64(3, 'UTC'),
    updated_at     DateTime64(3, 'UTC'),
    archived_at    Nullable(DateTime64(3, 'UTC')),
    vehicle_id     String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `from`         DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC'),
    until          DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC'),
    kind           LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    reason         String DEFAULT JSONExtractString(body, 'reason'),
    source_id      String DEFAULT JSONExtractString(body, 'source_id'),
    to_location_id String DEFAULT JSONExtractString(body, 'to_location_id'),
    external_ids   Array(String) DEFAULT [],
    body           String CODEC(ZSTD(3)),
    INDEX until_range until TYPE minmax GRANULARITY 1,
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
