-- Grain: the sums of a day of the books by ledger account, currency, vehicle, class, location and channel. Fed by ledger_daily_feed
-- from ledger_entries, whose rows never change. Read with sums: rows of one key are added up when parts merge. The server keeps out
-- what is inserted again by its token, here as in ledger_entries. amount is in minor units. Serves: balances and financial reports.
CREATE TABLE IF NOT EXISTS ledger_daily
(
    account        UInt64,
    local_date     Date32,
    ledger_account LowCardinality(String),
    currency       LowCardinality(String),
    vehicle        UInt64,
    class          UInt64,
    location       UInt64,
    channel        LowCardinality(String),
    amount         Int64,
    entries        UInt64
)
ENGINE = SummingMergeTree((amount, entries))
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, ledger_account, currency, vehicle, class, location, channel)
SETTINGS non_replicated_deduplication_window = 10000
