-- Grain: one request to an endpoint. Key: (account, endpoint, at, delivery); an insert that comes again writes the same row.
-- Written by pipeline/webhook, some at a time, within a second, beside the delivery's new version: of who is killed between,
-- one may be there without the other. number counts the attempts of the delivery from 1. request_head
-- and response_head are their first lines and headers, values that are secrets left out, responses up to 4 kB of each;
-- response_status 0 is no answer, and error says why in words. Serves: the log of an endpoint's or a delivery's
-- attempts, and its health: how many of a time came to what, and how long they took. Kept for 30 days of our clock.
CREATE TABLE IF NOT EXISTS webhook_attempts
(
    account         UInt64,
    endpoint        UInt64,
    at              DateTime64(3, 'UTC'),
    delivery        UInt64,
    number          UInt16,
    event           UInt64,
    type            LowCardinality(String),
    url             String CODEC(ZSTD(3)),
    request_head    String CODEC(ZSTD(3)),
    request_bytes   UInt32,
    succeeded       Bool,
    response_status UInt16,
    response_head   String CODEC(ZSTD(3)),
    response_body   String CODEC(ZSTD(3)),
    duration_ms     UInt32,
    error           String CODEC(ZSTD(3)),
    INDEX delivery_bloom delivery TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (account, endpoint, at, delivery)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024, ttl_only_drop_parts = 1
