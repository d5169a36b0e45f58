-- Grain: the time for which a person is signed in at one browser. Key: (account, user, id). Rows of one key are merged
-- column by column, each of which only grows: a row that says when a session began, one a minute at most while it is
-- used, and one that ends it, in any order and as often as they come. Serves: whose a cookie is (by the SHA-256 of its
-- secret), lists of a person's or an account's sessions. A session lives for seven days at most; rows go after thirty.
-- Read with GROUP BY.
CREATE TABLE IF NOT EXISTS sessions
(
    account  UInt64,
    user     UInt64,
    id       UInt64,
    token    SimpleAggregateFunction(max, String),
    factors  SimpleAggregateFunction(max, UInt8),
    began_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    seen_at  SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    ended_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    address  SimpleAggregateFunction(max, String),
    agent    SimpleAggregateFunction(max, String),
    at       SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    INDEX token_bloom token TYPE bloom_filter GRANULARITY 1
)
ENGINE = AggregatingMergeTree
ORDER BY (account, user, id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 512
