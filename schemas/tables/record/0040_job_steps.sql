-- Grain: one finished step of a job: a vehicle of a backfill, a row of an import. Key: (account, job, step). Written by
-- whoever did the step, perhaps more than once. Serves: the progress of a job.
CREATE TABLE IF NOT EXISTS job_steps
(
    account UInt64,
    job     UInt64,
    step    UInt64,
    at      DateTime64(3, 'UTC'),
    error   String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, job, step)
SETTINGS non_replicated_deduplication_window = 10000
