-- Grain: one transaction of the ledger: what one revision of a booking, payment, expense, work order or toll changed in
-- the books. Key: (account, id); the id is made of account, kind, source and revision, so each revision has at most
-- one. The truth of the ledger: written by compare-and-set with the token "ledger:<id>", and ledger_entries holds
-- nothing but what stands here in entries, as JSON. Serves: lists, and the posting of a revision again. known_on is the
-- local day on which it became known. Immutable; kept for ever.
CREATE TABLE IF NOT EXISTS ledger_transactions
(
    account      UInt64,
    id           UInt64,
    write_id     UInt64,
    kind         LowCardinality(String),
    source       UInt64,
    revision     UInt64,
    occurred_at  DateTime64(3, 'UTC'),
    posted_at    DateTime64(3, 'UTC'),
    known_on     Date32,
    actor        String,
    request_id   String,
    booking      UInt64,
    customer     UInt64,
    vehicles     Array(UInt64),
    currencies   Array(LowCardinality(String)),
    debits       Array(Int64),
    entry_count  UInt32,
    entries      String CODEC(ZSTD(3)),
    INDEX source_bloom source TYPE bloom_filter GRANULARITY 1,
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX customer_bloom customer TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
