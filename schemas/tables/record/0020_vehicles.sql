-- Grain: one vehicle, its newest revision. Key: (account, id). Fed by vehicles_feed from record_log; a replayed or late
-- revision loses against a higher one. Serves: lists with filters, BI. Read with FINAL. body holds the whole record.
CREATE TABLE IF NOT EXISTS vehicles
(
    account       UInt64,
    id            UInt64,
    revision      UInt64,
    created_at    DateTime64(3, 'UTC'),
    updated_at    DateTime64(3, 'UTC'),
    archived_at   Nullable(DateTime64(3, 'UTC')),
    make          String,
    model         String,
    year          UInt16,
    vin           String,
    status        LowCardinality(String),
    license_plate String,
    plate_region  String,
    nickname      String,
    fleet_number  String,
    fuel_type     LowCardinality(String),
    body_type     LowCardinality(String),
    tags          Array(String),
    external_ids  Array(String),
    body          String CODEC(ZSTD(3)),
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1,
    INDEX vin_bloom vin TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
