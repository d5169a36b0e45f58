-- Grain: what was booked on one account of the ledger in one month of the books, by vehicle, class, location, channel
-- and customer. Key: everything but the sums; month is its first day. Fed by ledger_months_feed, and else as
-- ledger_days. Serves: sums over months and years by vehicle, customer and all else that an entry tells, which need
-- not read the entries then. Read with GROUP BY and sum. Kept for ever.
CREATE TABLE IF NOT EXISTS ledger_months
(
    account        UInt64,
    month          Date32,
    ledger_account LowCardinality(String),
    currency       LowCardinality(String),
    vehicle        UInt64,
    class          UInt64,
    location       UInt64,
    channel        LowCardinality(String),
    customer       UInt64,
    amount         SimpleAggregateFunction(sum, Int64),
    entries        SimpleAggregateFunction(sum, Int64),
    checksum       SimpleAggregateFunction(sum, UInt64),
    repair         SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (account, month, ledger_account, currency, vehicle, class, location, channel, customer)
SETTINGS non_replicated_deduplication_window = 10000
