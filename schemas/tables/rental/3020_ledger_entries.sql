-- Grain: one entry of a transaction of the ledger. Key: (account, local_date, ledger_account, transaction, entry_no).
-- Never changes: what is corrected is corrected by further entries, so a row that is replaced is an identical
-- repetition. Entries of a transaction sum to zero for each currency and local_date. amount is in minor units, a debit
-- is positive. local_date is the day of the books; use_date the day to which it belongs, which differs where the books
-- were closed. purpose: what an entry is for, in words, where its account and the record do not say: a line of a bill,
-- a tax by its name, a deposit, a refund. Serves: lists, and balances and reports, which are sums of it. Kept for ever.
CREATE TABLE IF NOT EXISTS ledger_entries
(
    account        UInt64,
    local_date     Date32,
    ledger_account LowCardinality(String),
    transaction    UInt64,
    entry_no       UInt32,
    id             UInt64,
    amount         Int64,
    currency       LowCardinality(String),
    use_date       Date32,
    vehicle        UInt64,
    class          UInt64,
    booking        UInt64,
    customer       UInt64,
    location       UInt64,
    channel        LowCardinality(String),
    purpose        LowCardinality(String),
    kind           LowCardinality(String),
    source         UInt64,
    occurred_at    DateTime64(3, 'UTC'),
    INDEX transaction_bloom transaction TYPE bloom_filter GRANULARITY 1,
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_bloom vehicle TYPE bloom_filter GRANULARITY 1,
    INDEX customer_bloom customer TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, ledger_account, transaction, entry_no)
SETTINGS non_replicated_deduplication_window = 10000
