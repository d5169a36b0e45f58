-- Grain: what was booked on one account of the ledger on one day of the books, by class, location and channel. Key:
-- everything but the sums. Fed by ledger_days_feed from entries, which never change; this table adds up, so a server
-- that dies between the entries' part and the part here, or an entry that is written twice, leaves it wrong until
-- schemas.RepairRollups has compared it: it then gets the difference as further rows, and repair is the number of such
-- a repair within the month, 0 in rows of the view. amount is in minor units, a debit is positive. checksum is the sum
-- of the ids of the entries, whatever their order, round 2^64. Serves: sums by day, month and year of the books, by
-- account, class, location and channel. Read with GROUP BY and sum. Kept for ever.
CREATE TABLE IF NOT EXISTS ledger_days
(
    account        UInt64,
    local_date     Date32,
    ledger_account LowCardinality(String),
    currency       LowCardinality(String),
    class          UInt64,
    location       UInt64,
    channel        LowCardinality(String),
    amount         SimpleAggregateFunction(sum, Int64),
    entries        SimpleAggregateFunction(sum, Int64),
    checksum       SimpleAggregateFunction(sum, UInt64),
    repair         SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(local_date)
ORDER BY (account, local_date, ledger_account, currency, class, location, channel)
SETTINGS non_replicated_deduplication_window = 10000
