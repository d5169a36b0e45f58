-- Grain: one revision of one business record (vehicle, device, API key, account, ...). The truth, and the audit trail.
-- Key: (account, kind, id, revision). Serves: the newest revision of a record, its history.
-- Written only by api/record, one row an insert, with the token "<kind>:<id>:<revision>": of concurrent inserts of one
-- revision the server keeps exactly one, and write_id says whose. The window must hold more inserts than can happen
-- within a write's deadline. Retention: for ever; erasure rewrites.
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
    body        String CODEC(ZSTD(3))
)
ENGINE = MergeTree
ORDER BY (account, kind, id, revision)
SETTINGS non_replicated_deduplication_window = 10000
