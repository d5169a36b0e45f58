-- Grain: what was done to a credential, or how often it was used or refused from one address within an hour of UTC, as
-- one process counted. Key: (account, at, credential, act, reason, actor, client, item, process). at is the hour of what
-- is counted, whose item is 0, and the instant of everything else, whose item is the revision that it follows from, or a
-- number of its own; process tells apart what several count, and is 0 of what is not counted. A row that comes again with
-- a larger count takes the place of the one before. Never a secret, nor a part of one. Written by api/account: counts
-- some seconds after the first, then every five minutes, at the end of the hour and at shutdown. Serves: the audit of an
-- account, newest first, by credential, act, actor and time. Read with FINAL. Retention: 400 days, or those of the
-- account if they are fewer (schemas.Retention).
CREATE TABLE IF NOT EXISTS credential_audit
(
    account    UInt64,
    at         DateTime64(3, 'UTC'),
    credential String,
    kind       LowCardinality(String),
    act        LowCardinality(String),
    reason     LowCardinality(String),
    actor      String,
    client     String,
    item       UInt64,
    process    UInt64,
    first_at   DateTime64(3, 'UTC'),
    last_at    DateTime64(3, 'UTC'),
    count      UInt64
)
ENGINE = ReplacingMergeTree(count)
PARTITION BY toYYYYMM(at)
ORDER BY (account, at, credential, act, reason, actor, client, item, process)
TTL toDateTime(at) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024
