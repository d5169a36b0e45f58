-- Grain: what the entries of one tax on a booking, on one day of the books, were charged on. Key: everything but the sums. A function of
-- the booking's charges and of its entries of the ledger; made again when one of these changes. Only what differs is written; the row that
-- was made last counts: read with FINAL. What is there no longer is 0. base: the net amount in minor units; known: the tax of these entries,
-- if it is known what it was charged on, else 0. Serves: the list of taxes, which would read the charges of all bookings. Kept for ever.
CREATE TABLE IF NOT EXISTS tax_bases
(
    account     UInt64,
    booking     UInt64,
    local_date  Date32,
    name        LowCardinality(String),
    location    UInt64,
    channel     LowCardinality(String),
    currency    LowCardinality(String),
    computed_at DateTime64(3, 'UTC'),
    base        Int64,
    known       Int64,
    INDEX local_date_minmax local_date TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking, local_date, name, location, channel, currency)
SETTINGS non_replicated_deduplication_window = 10000
