-- Grain: one event that an endpoint of an account is to get, its newest version. Key: (account, endpoint, sequence, id);
-- sequence is the event's, id a hash of account, endpoint, sequence, event and the replay that asked, so whoever makes the delivery again
-- writes the same row with version 1. Written before the first attempt, and with the next version after each, by
-- pipeline/webhook alone. status: pending (not tried since it was asked for), retrying, succeeded, failed (no attempt is left),
-- skipped (the endpoint was paused, off or gone), superseded (a place, and there is a newer one). attempts are all that were made,
-- tries those since it was last asked for, of which next_at follows; what is settled has next_at 1970. created_at: when the event was
-- noted, or the replay was asked for; it never changes, so that the versions of a row are of one partition. What the
-- last attempt came to is repeated here: response_status 0 is no answer, and error says why in words.
-- Serves: what waits of an endpoint, and since when; the list of an endpoint's deliveries; recover. Read with FINAL,
-- which looks at each partition by itself. EXPLAIN indexes=1 of what waits of one endpoint among a hundred: the key takes
-- 3 of 245 granules of a day. Kept for 30 days of our clock.
CREATE TABLE IF NOT EXISTS webhook_deliveries
(
    account         UInt64,
    endpoint        UInt64,
    sequence        UInt64,
    id              UInt64,
    version         UInt32,
    event           UInt64,
    type            LowCardinality(String),
    vehicle         UInt64,
    replay          UInt64,
    created_at      DateTime64(3, 'UTC'),
    updated_at      DateTime64(3, 'UTC'),
    status          LowCardinality(String),
    attempts        UInt16,
    tries           UInt16,
    next_at         DateTime64(3, 'UTC'),
    response_status UInt16,
    duration_ms     UInt32,
    error           String CODEC(ZSTD(3)),
    INDEX id_bloom id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(created_at)
ORDER BY (account, endpoint, sequence, id)
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024, ttl_only_drop_parts = 1
