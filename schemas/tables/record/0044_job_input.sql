-- Grain: one row of a file that was uploaded to be imported, as a JSON object, or as it came if it is none; fault says
-- what is wrong with a row that could not be read. Key: (account, job, row). Written by api/transfer in one insert with
-- the token "job_input:<job>". Serves: reading the rows of a job. Kept for 30 days.
CREATE TABLE IF NOT EXISTS job_input
(
    account UInt64,
    job     UInt64,
    row     UInt32,
    at      DateTime('UTC'),
    body    String CODEC(ZSTD(3)),
    fault   String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, job, row)
TTL at + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000
