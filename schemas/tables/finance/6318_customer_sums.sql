-- Grain: what the books have of one customer in one currency. Key: (account, currency, customer). A function of the customer's entries of the
-- ledger; made again when there are more. Only what differs is written; the row that was made last counts: read with FINAL. months: those
-- that have entries, by their first days, in order; income: of each, minor units of revenue less discounts, refunds and what platforms keep,
-- without taxes and tolls passed on. Serves: reports of customers, which would read the months of the whole ledger. Kept for ever.
CREATE TABLE IF NOT EXISTS customer_sums
(
    account     UInt64,
    currency    LowCardinality(String),
    customer    UInt64,
    computed_at DateTime64(3, 'UTC'),
    months      Array(Date32),
    income      Array(Int64)
)
ENGINE = ReplacingMergeTree(computed_at)
ORDER BY (account, currency, customer)
SETTINGS non_replicated_deduplication_window = 10000
