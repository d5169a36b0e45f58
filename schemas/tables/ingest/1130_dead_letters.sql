-- Grain: one record, or one report of a batch record, that could not become data. account is 0 when the device is not
-- known. id is a hash of topic, partition, offset and index, so a replayed batch writes the same row. Serves: the list
-- of an account's dead letters, replay. payload holds the raw bytes up to 64 KiB; payload_bytes the whole length.
-- Kept for 90 days.
CREATE TABLE IF NOT EXISTS dead_letters
(
    account          UInt64,
    id               UInt64,
    at               DateTime64(3, 'UTC'),
    reason           LowCardinality(String),
    detail           String,
    unique_id        String,
    source_topic     LowCardinality(String),
    source_partition UInt16,
    source_offset    UInt64,
    source_index     UInt32,
    format           LowCardinality(String),
    payload          String CODEC(ZSTD(3)),
    payload_bytes    UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, at, id)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 10000
