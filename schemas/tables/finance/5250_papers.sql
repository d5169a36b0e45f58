-- Grain: one paper (invoice, credit note, receipt, statement, agreement), its newest revision. Key: (account, id).
-- Filled from record_log, which keeps every revision. Serves: lists of each kind with filters, the papers of a booking
-- and of an owner, and those that are still to get their number. Read with FINAL. body holds the whole record. number
-- is given when it is issued, without gaps in its series, and empty before. place is its place among the papers of its
-- booking, or of its owner and currency. total is in minor units of the currency. Who it is made out to is in
-- paper_persons.
CREATE TABLE IF NOT EXISTS papers
(
    account      UInt64,
    kind         LowCardinality(String),
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    status       LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    number       String DEFAULT JSONExtractString(body, 'number'),
    series       LowCardinality(String) DEFAULT JSONExtractString(body, 'series'),
    booking_id   String DEFAULT JSONExtractString(body, 'booking_id'),
    customer_id  String DEFAULT JSONExtractString(body, 'customer_id'),
    payment_id   String DEFAULT JSONExtractString(body, 'payment_id'),
    invoice_id   String DEFAULT JSONExtractString(body, 'invoice_id'),
    month        LowCardinality(String) DEFAULT JSONExtractString(body, 'month'),
    place        UInt32 DEFAULT JSONExtractUInt(body, 'place'),
    currency     LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    issued_on    String DEFAULT JSONExtractString(body, 'issued_on'),
    due_on       String DEFAULT JSONExtractString(body, 'due_on'),
    total        Int64 DEFAULT JSONExtractInt(body, 'total', 'amount'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX status_set status TYPE set(8) GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
