-- Grain: one revision of one business record (vehicle, device, API key, account, ...). The truth, and the audit trail.
-- Key: (account, kind, id, revision). Serves: the newest revision of a record, its history.
-- Written only by api/record, one row an insert, with the token "<kind>:<id>:<revision>": of concurrent inserts of one
-- revision the server keeps exactly one, and write_id says whose. The window must hold more inserts than can happen
-- within a write's deadline. at_minmax: what was written lately is found without parts and granules of another time.
-- Granules are half a megabyte and not ten, which is what the read of one record, or of the newest revision of a large
-- one, has to unpack. 12 % more on disk; a calendar of 500 holds in half the time, four records together in 60 % of it.
-- Calendars are large and written often, and by its measure the server would rewrite a part of some megabytes for every
-- other write, as a part below 100 MB is cheap to merge again. Twelve parts of a size are waited for instead of five or
-- fewer (docs/decisions, "Fewer merges"). Retention: for ever; erasure rewrites.
CREATE TABLE IF NOT EXISTS record_log
(
    account     UInt64,
    kind        LowCardinality(String),
    id          UInt64,
    revision    UInt64,
    write_id    UInt64,
    action      LowCardinality(String),
    at          DateTime64(3, 'UTC'),
    created_at  DateTime64(3, 'UTC'),
    archived_at Nullable(DateTime64(3, 'UTC')),
    actor       String,
    request_id  String,
    body        String CODEC(ZSTD(3)),
    INDEX at_minmax at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (account, kind, id, revision)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity_bytes = 524288, merge_selector_base = 12
