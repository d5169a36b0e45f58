-- Grain: one customer, its newest revision. Key: (account, id). Fed by customers_feed from record_log. The one table beside
-- record_log, customer_notes, documents and document_files that holds personal data; erasure deletes older rows here as well.
-- Serves: lists with filters, duplicates by the hashed keys (0 for none), the customers that were merged into one, BI. Read with FINAL.
-- Dates are texts, empty if unknown; flags are 'true' or 'false'. body holds the whole record.
CREATE TABLE IF NOT EXISTS customers
(
    account               UInt64,
    id                    UInt64,
    revision              UInt64,
    created_at            DateTime64(3, 'UTC'),
    updated_at            DateTime64(3, 'UTC'),
    archived_at           Nullable(DateTime64(3, 'UTC')),
    type                  LowCardinality(String),
    display_name          String,
    first_name            String,
    last_name             String,
    company_name          String,
    email                 String,
    phone                 String,
    date_of_birth         String,
    city                  String,
    region                String,
    country               LowCardinality(String),
    lifecycle             LowCardinality(String),
    risk_level            LowCardinality(String),
    assigned_to           String,
    tags                  Array(String),
    do_not_rent           LowCardinality(String),
    licence_country       LowCardinality(String),
    licence_expires_on    String,
    licence_verification  LowCardinality(String),
    merged_into           String,
    possible_duplicate_of String,
    possible_duplicates   LowCardinality(String),
    erasing               LowCardinality(String),
    licence_key           UInt64,
    email_key             UInt64,
    phone_key             UInt64,
    external_ids          Array(String),
    body                  String CODEC(ZSTD(3)),
    INDEX licence_key_bloom licence_key TYPE bloom_filter GRANULARITY 1,
    INDEX email_key_bloom email_key TYPE bloom_filter GRANULARITY 1,
    INDEX phone_key_bloom phone_key TYPE bloom_filter GRANULARITY 1,
    INDEX merged_into_bloom merged_into TYPE bloom_filter GRANULARITY 1,
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1,
    INDEX erasing_set erasing TYPE set(2) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
