-- Grain: one report of a device that is not registered, kept apart until it is, in the native JSON form. Key:
-- (unique_id, source). Bounded: the pipeline stops keeping at a number of reports a device and of the whole table (and
-- counts what it left out), and a week later a report is gone. Serves: release when a device is registered,
-- the list of unknown devices.
CREATE TABLE IF NOT EXISTS unregistered_reports
(
    unique_id        String,
    at               DateTime64(3, 'UTC'),
    source_topic     LowCardinality(String),
    source_partition UInt16,
    source_offset    UInt64,
    source_index     UInt32,
    run              LowCardinality(String),
    report           String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (unique_id, source_topic, source_partition, source_offset, source_index)
TTL toDateTime(at) + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1
