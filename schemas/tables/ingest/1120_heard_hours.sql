-- Grain: in which minutes of an hour (UTC) a device was heard of; bit n of minutes is minute n. Key: (account, device,
-- hour). A set, so that it may be written again and in any order. Written with heard. Serves: the interval in which a
-- device reports, its silences. Read by groupBitOr(minutes).
CREATE TABLE IF NOT EXISTS heard_hours
(
    account UInt64,
    device  UInt64,
    hour    DateTime('UTC'),
    minutes SimpleAggregateFunction(groupBitOr, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (account, device, hour)
SETTINGS non_replicated_deduplication_window = 10000
