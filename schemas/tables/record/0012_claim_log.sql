-- Grain: one revision of the claim on one unique value: a VIN or plate within an account, a device's unique id over all
-- accounts (account 0), an idempotency key. Key: (account, field, value, revision). Serves: who holds a value now.
-- Compare-and-set as in record_log, token "<account>:<field>:<value>:<revision>" with the value hashed. owner 0 means
-- released. at is the server's clock, because the age of a claim decides whether it was abandoned. Retention: claims
-- that expire (idempotency keys) go three days after; the others stay. Of the statements of mutations, which erasures
-- are, the server keeps the newest only, and not a hundred.
CREATE TABLE IF NOT EXISTS claim_log
(
    account    UInt64,
    field      LowCardinality(String),
    value      String,
    revision   UInt64,
    write_id   UInt64,
    owner      UInt64,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    detail     String CODEC(ZSTD(3))
)
ENGINE = MergeTree
ORDER BY (account, field, value, revision)
TTL toDateTime(ifNull(expires_at, toDateTime('2100-01-01 00:00:00', 'UTC'))) + INTERVAL 3 DAY
SETTINGS non_replicated_deduplication_window = 10000, finished_mutations_to_keep = 1
