-- Grain: what became of the reports of one device in a batch, received in one quarter of an hour, but for those that
-- are stored as positions. Key: (account, device, quarter, outcome) and the batch's own. Fed by device_outcomes_feed.
-- outcome: a reason of refusal, or measured. Serves: the quality of a device by days. Read with FINAL. Kept for two
-- years.
CREATE TABLE IF NOT EXISTS device_outcomes
(
    account      UInt64,
    device       UInt64,
    quarter      DateTime('UTC'),
    outcome      LowCardinality(String),
    run          String,
    topic        LowCardinality(String),
    partition    UInt16,
    first_offset UInt64,
    n            UInt32
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(quarter)
ORDER BY (account, device, quarter, outcome, run, topic, partition, first_offset)
TTL quarter + INTERVAL 2 YEAR
SETTINGS non_replicated_deduplication_window = 10000
