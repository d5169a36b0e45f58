-- Grain: one job (long work that somebody asked for), its newest revision. Key: (account, id). Filled from
-- record_log. What of it is done stands in job_steps. Serves: lists. Read with FINAL. body holds the whole record.
-- What a job is about is subject_id where it is answered, so that lists filter by that name too.
CREATE TABLE IF NOT EXISTS jobs
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    kind         LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    subject      String DEFAULT JSONExtractString(body, 'subject'),
    external_ids Array(String) DEFAULT [],
    body         String CODEC(ZSTD(3)),
    subject_id   String ALIAS subject
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
