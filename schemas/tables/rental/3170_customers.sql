-- Grain: one customer, its newest revision. Key: (account, id). Filled from record_log. The one table beside
-- record_log, customer_notes, documents and document_files that holds personal data; erasure deletes older rows
-- here as well. Serves: lists with filters, duplicates by the hashed keys (0 for none), the customers that were
-- merged into one, BI. Read with FINAL. Dates are texts, empty if unknown; flags are 'true' or 'false'. body holds
-- the whole record. number is what people call it by, like C-1042; given once in the account. The keys are hashes
-- of what is normalised as customers_like.sql does it. Customers are found by the number of a licence alone;
-- country, region and birth date are compared with what is found, because one of them is often not known. The
-- indexes on sets find who is on the do-not-rent list.
CREATE TABLE IF NOT EXISTS customers
(
    account               UInt64,
    id                    UInt64,
    revision              UInt64,
    created_at            DateTime64(3, 'UTC'),
    updated_at            DateTime64(3, 'UTC'),
    archived_at           Nullable(DateTime64(3, 'UTC')),
    number                String DEFAULT JSONExtractString(body, 'number'),
    type                  LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    display_name          String DEFAULT JSONExtractString(body, 'display_name'),
    first_name            String DEFAULT JSONExtractString(body, 'first_name'),
    last_name             String DEFAULT JSONExtractString(body, 'last_name'),
    company_name          String DEFAULT JSONExtractString(body, 'company_name'),
    email                 String DEFAULT JSONExtractString(body, 'email'),
    phone                 String DEFAULT JSONExtractString(body, 'phone'),
    date_of_birth         String DEFAULT JSONExtractString(body, 'date_of_birth'),
    city                  String DEFAULT JSONExtractString(body, 'address', 'city'),
    region                String DEFAULT JSONExtractString(body, 'address', 'region'),
    country               LowCardinality(String) DEFAULT JSONExtractString(body, 'address', 'country'),
    lifecycle             LowCardinality(String) DEFAULT JSONExtractString(body, 'lifecycle'),
    risk_level            LowCardinality(String) DEFAULT JSONExtractString(body, 'risk_level'),
    assigned_to           String DEFAULT JSONExtractString(body, 'assigned_to'),
    tags                  Array(String) DEFAULT JSONExtract(body, 'tags', 'Array(String)'),
    do_not_rent           LowCardinality(String)
        DEFAULT if(JSONExtractBool(body, 'do_not_rent', 'active'), 'true', 'false'),
    licence_country       LowCardinality(String) DEFAULT JSONExtractString(body, 'licence', 'country'),
    licence_expires_on    String DEFAULT JSONExtractString(body, 'licence', 'expires_on'),
    licence_verification  LowCardinality(String) DEFAULT JSONExtractString(body, 'licence_verification', 'status'),
    merged_into           String DEFAULT JSONExtractString(body, 'merged_into'),
    possible_duplicate_of String DEFAULT JSONExtractString(body, 'possible_duplicate_of'),
    possible_duplicates   LowCardinality(String) DEFAULT if(possible_duplicate_of != '', 'true', 'false'),
    erasing               LowCardinality(String)
        DEFAULT if(JSONExtractString(body, 'erasing_since') != '', 'true', 'false'),
    email_key             UInt64 DEFAULT if(email = '', 0, cityHash64(lowerUTF8(trimBoth(email)))),
    phone_key             UInt64 DEFAULT if(phone = '', 0, cityHash64(replaceRegexpAll(phone, '[^0-9]', ''))),
    licence_number        EPHEMERAL upperUTF8(
        replaceRegexpAll(JSONExtractString(body, 'licence', 'number'), '[^\\pL\\pN]', '')),
    licence_number_key    UInt64 DEFAULT if(licence_number = '', 0, cityHash64(licence_number)),
    external_ids          Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body                  String CODEC(ZSTD(3)),
    INDEX email_key_bloom email_key TYPE bloom_filter GRANULARITY 1,
    INDEX phone_key_bloom phone_key TYPE bloom_filter GRANULARITY 1,
    INDEX merged_into_bloom merged_into TYPE bloom_filter GRANULARITY 1,
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1,
    INDEX erasing_set erasing TYPE set(2) GRANULARITY 1,
    INDEX licence_number_key_bloom licence_number_key TYPE bloom_filter GRANULARITY 1,
    INDEX do_not_rent_set do_not_rent TYPE set(2) GRANULARITY 1,
    INDEX risk_level_set risk_level TYPE set(4) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
