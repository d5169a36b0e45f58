-- Grain: one minute (UTC) of a signal of a vehicle. Fed by telemetry_1m_feed. Only aggregates that do not change when a
-- measurement is inserted twice, so replays and duplicates cannot skew it; there is no sum and no count on purpose.
-- Read with GROUP BY and the -Merge functions.
CREATE TABLE IF NOT EXISTS telemetry_1m
(
    account     UInt64,
    vehicle     UInt64,
    signal      LowCardinality(String),
    bucket      DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    min_value   SimpleAggregateFunction(min, Float64),
    max_value   SimpleAggregateFunction(max, Float64),
    first_value AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    last_value  AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(bucket)
ORDER BY (account, vehicle, signal, bucket)
SETTINGS non_replicated_deduplication_window = 10000
