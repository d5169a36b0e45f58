-- Grain: one endpoint, how it fares: its newest version. Key: (account, endpoint). Written by the endpoint's owner in
-- pipeline/webhook every two seconds where it changed, and when an owner goes. failing_since is when the first attempt failed after the last
-- that succeeded, 1970 if that was the last; failures counts from then; warned is the share (percent) of the time until it
-- is switched off of which the account was told. circuit: closed, open (nothing is sent until open_until) or half_open
-- (one is tried). Serves: an endpoint's health, and the owner that comes next. Read with FINAL.
CREATE TABLE IF NOT EXISTS webhook_health
(
    account         UInt64,
    endpoint        UInt64,
    version         UInt64,
    updated_at      DateTime64(3, 'UTC'),
    failing_since   DateTime64(3, 'UTC'),
    failures        UInt32,
    warned          UInt8,
    last_success_at DateTime64(3, 'UTC'),
    last_failure_at DateTime64(3, 'UTC'),
    last_status     UInt16,
    last_error      String CODEC(ZSTD(3)),
    circuit         LowCardinality(String),
    open_until      DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, endpoint)
SETTINGS non_replicated_deduplication_window = 1000
