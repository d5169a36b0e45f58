-- Grain: one statement of who drove a vehicle during a span, its newest revision. Key: (account, vehicle, id).
-- Filled from record_log. A trip's driver is that of the highest id whose span holds the middle of the trip or
-- begins with it, so that it survives when the trip goes on or is derived again; an empty driver says that nobody
-- is known. Serves: drivers of a page of trips, trips of a driver. Read with FINAL.
CREATE TABLE IF NOT EXISTS trip_drivers
(
    account     UInt64,
    id          UInt64,
    revision    UInt64,
    created_at  DateTime64(3, 'UTC'),
    updated_at  DateTime64(3, 'UTC'),
    archived_at Nullable(DateTime64(3, 'UTC')),
    vehicle     UInt64 DEFAULT toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)),
    from_at     DateTime64(3, 'UTC') DEFAULT fromUnixTimestamp64Milli(JSONExtractInt(body, 'from_ms'), 'UTC'),
    to_at       DateTime64(3, 'UTC') DEFAULT fromUnixTimestamp64Milli(JSONExtractInt(body, 'to_ms'), 'UTC'),
    driver      String DEFAULT JSONExtractString(body, 'driver'),
    body        String CODEC(ZSTD(3)),
    INDEX driver_bloom driver TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
