-- Grain: one recover or replay of an endpoint that was asked for, its newest state. Key: (account, endpoint, id); id is made by who
-- asks. Written by who asks before the command is put on its topic, and by the endpoint's owner whenever it did some of it. Serves:
-- whether one is under way, so that there is one at a time. Read with FINAL. Kept for 30 days of our clock.
CREATE TABLE IF NOT EXISTS webhook_asked
(
    account    UInt64,
    endpoint   UInt64,
    id         UInt64,
    kind       LowCardinality(String),
    asked_at   DateTime64(3, 'UTC'),
    updated_at DateTime64(3, 'UTC'),
    step       UInt8, -- 0 asked for, 1 some of it was done, 2 done: the newest state whatever the clocks of two machines say
    done       Bool
)
ENGINE = ReplacingMergeTree(step)
ORDER BY (account, endpoint, id)
TTL toDateTime(asked_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000
