-- Grain: one row of an import that was refused, and why; at most 1,000 of a job. Key: (account, job, row). Written by
-- api/transfer before the row counts as done in job_steps, perhaps more than once. errors is a JSON array of what is
-- wrong with members. Serves: the list of them, in order. Read with FINAL. Kept for 30 days.
CREATE TABLE IF NOT EXISTS job_errors
(
    account UInt64,
    job     UInt64,
    row     UInt32,
    at      DateTime('UTC'),
    code    LowCardinality(String),
    detail  String,
    errors  String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, job, row)
TTL at + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000
