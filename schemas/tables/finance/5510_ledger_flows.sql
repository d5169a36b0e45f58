-- Grain: what was booked on one day of the books on an account of money, of what is owed to the fleet, of deposits or of taxes, by all that
-- an entry says of why and for whom: the kind of its record and which one it is (source), booking, vehicle, location, channel, customer
-- and purpose. Key: everything but the sums; the account of the ledger stands before the day, so that a span of one of these accounts is
-- read alone, where entries of all accounts lie side by side. debits is the part of amount that is positive. Fed by ledger_flows_feed, and
-- else as ledger_days. Serves: the cash basis, receivables and their age, deposits, and taxes by name. Read with GROUP BY and sum. Kept
-- for ever.
CREATE TABLE IF NOT EXISTS ledger_flows
(
    account        UInt64,
    ledger_account LowCardinality(String),
    local_date     Date32,
    currency       LowCardinality(String),
    kind           LowCardinality(String),
    source         UInt64,
    booking        UInt64,
    vehicle        UInt64,
    location       UInt64,
    channel        LowCardinality(String),
    customer       UInt64,
    purpose        LowCardinality(String),
    amount         SimpleAggregateFunction(sum, Int64),
    debits         SimpleAggregateFunction(sum, Int64),
    entries        SimpleAggregateFunction(sum, Int64),
    checksum       SimpleAggregateFunction(sum, UInt64),
    repair         SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(local_date)
PRIMARY KEY (account, ledger_account, local_date)
ORDER BY (account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose)
SETTINGS non_replicated_deduplication_window = 10000
