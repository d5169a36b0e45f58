-- Grain: what became of the reports of one batch, per account and run: read = stored + the sum of refused. Key: (run,
-- topic, partition, first_offset, account). run is empty for the ordinary feed and names a replay otherwise, which is
-- how "motorpool replay --wait" learns that its records have been worked through. Written with the batch's token, so
-- sums are exact. A report that was kept apart as of an unknown device counts for account 0; when it is released it
-- moves to the account of its device: account 0 gets read -1 and refused['unknown_device'] -1, the account what became
-- of it. outcome_*: what became of the reports of single devices, but for those that are stored as positions; columns
-- of equal length, an element for each device, quarter of an hour of receipt and outcome (a reason of refusal, or
-- measured: only measurements were stored). Here because the row of a batch is written once, whatever is judged when
-- the batch is formed again. Serves: counts of a run, usage of an account, and device_outcomes_feed. Kept for two
-- years.
CREATE TABLE IF NOT EXISTS ingest_outcomes
(
    account          UInt64,
    run              String,
    topic            LowCardinality(String),
    partition        UInt16,
    first_offset     UInt64,
    last_offset      UInt64,
    at               DateTime64(3, 'UTC'),
    read             Int64,
    stored           Int64,
    signals          Int64,
    refused          Map(LowCardinality(String), Int64),
    outcome_devices  Array(UInt64),
    outcome_quarters Array(DateTime('UTC')),
    outcome_names    Array(LowCardinality(String)),
    outcome_counts   Array(UInt32)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (run, topic, partition, first_offset, account)
TTL toDateTime(at) + INTERVAL 2 YEAR
SETTINGS non_replicated_deduplication_window = 10000
