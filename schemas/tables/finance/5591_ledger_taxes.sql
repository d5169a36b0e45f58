-- Grain: an entry of the ledger of a tax on a booking, as it is billed or taken back. Key: everything but the sums, so that the taxes of a
-- booking stand together, each in the order in which its entries became known: occurred_at, transaction, of one transaction what is taken
-- back first (charged says that it is not), local_date and entry_no. purpose says the name of the tax ("tax, State tax"). Fed by
-- ledger_taxes_feed, and else as ledger_days. Serves: what a tax came to after each of its entries, which needs no sort of all of them then.
-- Rows of one key lie side by side in that order, so what is summed along it needs no GROUP BY. Kept for ever.
CREATE TABLE IF NOT EXISTS ledger_taxes
(
    account     UInt64,
    currency    LowCardinality(String),
    booking     UInt64,
    purpose     LowCardinality(String),
    occurred_at DateTime64(3, 'UTC'),
    transaction UInt64,
    charged     UInt8,
    local_date  Date32,
    entry_no    UInt32,
    location    UInt64,
    channel     LowCardinality(String),
    amount      SimpleAggregateFunction(sum, Int64),
    entries     SimpleAggregateFunction(sum, Int64),
    checksum    SimpleAggregateFunction(sum, UInt64),
    repair      SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(local_date)
PRIMARY KEY (account, currency, booking)
ORDER BY (account, currency, booking, purpose, occurred_at, transaction, charged, local_date, entry_no, location, channel)
SETTINGS non_replicated_deduplication_window = 10000
