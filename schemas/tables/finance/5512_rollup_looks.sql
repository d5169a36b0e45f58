-- Grain: one look at sums that views add up, which left nothing wrong; until is when it began: what had been written by then is in them.
-- Key: sums, of what they are: 'ledger'; the latest look counts. One that is missing has answers say that they are older than they are,
-- until the next. Serves: until when reports are made of everything. Earlier looks go as parts are merged.
CREATE TABLE IF NOT EXISTS rollup_looks
(
    sums  LowCardinality(String),
    until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(until)
ORDER BY sums
SETTINGS non_replicated_deduplication_window = 10000
