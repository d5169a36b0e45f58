-- Grain: one record that was exported, as a JSON object. Key: (account, job, attempt, row): whoever takes a job over
-- writes anew under an attempt of its own, and the job's record names the attempt that counts. Written by api/transfer.
-- Serves: reading a result in order. Kept for 30 days.
CREATE TABLE IF NOT EXISTS job_output
(
    account UInt64,
    job     UInt64,
    attempt UInt32,
    row     UInt32,
    at      DateTime('UTC'),
    body    String CODEC(ZSTD(3))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, job, attempt, row)
TTL at + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000
