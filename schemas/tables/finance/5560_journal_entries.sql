-- Grain: one journal entry by hand, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters. Read with FINAL. entry_on is the day on which it counts, total_minor the sum of its
-- debits in minor units of the currency; ledger_account, vehicle_id, customer_id and location_id are those of its lines.
-- body holds the whole record.
CREATE TABLE IF NOT EXISTS journal_entries
(
    account        UInt64,
    id             UInt64,
    revision       UInt64,
    created_at     DateTime64(3, 'UTC'),
    updated_at     DateTime64(3, 'UTC'),
    archived_at    Nullable(DateTime64(3, 'UTC')),
    number         String DEFAULT JSONExtractString(body, 'number'),
    status         LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    entry_on       String DEFAULT JSONExtractString(body, 'on'),
    reversed_on    String DEFAULT JSONExtractString(body, 'reversed_on'),
    memo           String DEFAULT JSONExtractString(body, 'memo'),
    opening        Bool DEFAULT JSONExtractBool(body, 'opening'),
    ledger_account Array(LowCardinality(String))
        DEFAULT arrayMap(l -> JSONExtractString(l, 'ledger_account'), JSONExtractArrayRaw(body, 'lines')),
    vehicle_id     Array(String)
        DEFAULT arrayFilter(v -> v != '', arrayMap(l -> JSONExtractString(l, 'vehicle_id'), JSONExtractArrayRaw(body, 'lines'))),
    customer_id    Array(String)
        DEFAULT arrayFilter(v -> v != '', arrayMap(l -> JSONExtractString(l, 'customer_id'), JSONExtractArrayRaw(body, 'lines'))),
    location_id    Array(String)
        DEFAULT arrayFilter(v -> v != '', arrayMap(l -> JSONExtractString(l, 'location_id'), JSONExtractArrayRaw(body, 'booked_for'))),
    total_minor    Int64
        DEFAULT arraySum(l -> JSONExtractInt(l, 'debit', 'amount'), JSONExtractArrayRaw(body, 'lines')),
    currency       LowCardinality(String)
        DEFAULT arrayMax(l -> concat(JSONExtractString(l, 'debit', 'currency'), JSONExtractString(l, 'credit', 'currency')), JSONExtractArrayRaw(body, 'lines')),
    external_ids   Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body           String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
