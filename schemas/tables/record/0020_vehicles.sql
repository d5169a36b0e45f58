-- Grain: one vehicle, its newest revision. Key: (account, id). Filled from record_log; a replayed or late revision
-- loses against a higher one. Serves: lists with filters, BI. Read with FINAL. body holds the whole record.
-- status_cause and status_until are what the passing of time is to do with a vehicle; located_at is since when it
-- is at its current location, as far as transfers go, 1970 if nobody said.
CREATE TABLE IF NOT EXISTS vehicles
(
    account             UInt64,
    id                  UInt64,
    revision            UInt64,
    created_at          DateTime64(3, 'UTC'),
    updated_at          DateTime64(3, 'UTC'),
    archived_at         Nullable(DateTime64(3, 'UTC')),
    make                String DEFAULT JSONExtractString(body, 'make'),
    model               String DEFAULT JSONExtractString(body, 'model'),
    year                UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'year')),
    vin                 String DEFAULT JSONExtractString(body, 'vin'),
    status              LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    license_plate       String DEFAULT JSONExtractString(body, 'license_plate'),
    plate_region        String DEFAULT JSONExtractString(body, 'plate_region'),
    nickname            String DEFAULT JSONExtractString(body, 'nickname'),
    fleet_number        String DEFAULT JSONExtractString(body, 'fleet_number'),
    fuel_type           LowCardinality(String) DEFAULT JSONExtractString(body, 'fuel_type'),
    body_type           LowCardinality(String) DEFAULT JSONExtractString(body, 'body_type'),
    tags                Array(String) DEFAULT JSONExtract(body, 'tags', 'Array(String)'),
    vehicle_class_id    LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    home_location_id    LowCardinality(String) DEFAULT JSONExtractString(body, 'home_location_id'),
    current_location_id LowCardinality(String) DEFAULT JSONExtractString(body, 'current_location_id'),
    rate_plan_id        LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_plan_id'),
    owner_customer_id   String DEFAULT JSONExtractString(body, 'owner_customer_id'),
    ownership           LowCardinality(String) DEFAULT JSONExtractString(body, 'ownership'),
    transmission        LowCardinality(String) DEFAULT JSONExtractString(body, 'transmission'),
    drivetrain          LowCardinality(String) DEFAULT JSONExtractString(body, 'drivetrain'),
    seats               UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'seats')),
    status_since        DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    status_cause        String DEFAULT JSONExtractString(body, 'status_cause'),
    status_until        DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_until'), 3, 'UTC'),
    located_at          DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'located_at'), 3, 'UTC'),
    external_ids        Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body                String CODEC(ZSTD(3)),
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000
