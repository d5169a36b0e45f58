-- Grain: one booking, its newest revision. Key: (account, id); ids rise with the time of making, so that the skip indexes on times find
-- their granules. Fed by bookings_feed from record_log, which keeps every version. Serves: lists with filters, what is due
-- (holds that lapse, no-shows, overdue rentals), the overlap audit, reports. Read with FINAL. body holds the whole record.
-- A part of the table is a quarter of a year of making, as the id tells: FINAL merges what is in several parts, and of the quarters that nobody
-- has written to for an hour the server makes one part each, which is read as it is. Times that are not known are 1970. total_minor is what the
-- booking comes to by the posted charges, without what a platform keeps, which is platform_minor and negative; owed_minor is what the business is
-- to get of it: a platform that collects the price passes on the rest.
CREATE TABLE IF NOT EXISTS bookings
(
    account                 UInt64,
    id                      UInt64 CODEC(NONE), -- hardly compresses, and every list and count reads it
    revision                UInt64,
    created_at              DateTime64(3, 'UTC'),
    updated_at              DateTime64(3, 'UTC'),
    archived_at             Nullable(DateTime64(3, 'UTC')),
    status                  LowCardinality(String),
    status_since            DateTime64(3, 'UTC'),
    channel                 LowCardinality(String),
    external_reservation_id String,
    customer_id             String,
    driver_ids              Array(String),
    vehicle_id              LowCardinality(String),
    vehicle_class_id        LowCardinality(String),
    pickup_location_id      LowCardinality(String),
    return_location_id      LowCardinality(String),
    rate_plan_id            LowCardinality(String),
    pickup_at               DateTime64(3, 'UTC'),
    return_at               DateTime64(3, 'UTC'),
    blocked_from            DateTime64(3, 'UTC'),
    blocked_until           DateTime64(3, 'UTC'),
    hold_expires_at         DateTime64(3, 'UTC'),
    no_show_at              DateTime64(3, 'UTC'),
    actual_pickup_at        DateTime64(3, 'UTC'),
    actual_return_at        DateTime64(3, 'UTC'),
    confirmed_at            DateTime64(3, 'UTC'),
    cancelled_at            DateTime64(3, 'UTC'),
    cancelled_by            LowCardinality(String),
    overdue_noted_at        DateTime64(3, 'UTC'),
    timezone                LowCardinality(String),
    conflict                LowCardinality(String),
    has_damage              LowCardinality(String),
    billed_days             UInt32,
    currency                LowCardinality(String),
    total_minor             Int64,
    platform_minor          Int64,
    deposit_status          LowCardinality(String),
    deposit_expires_at      DateTime64(3, 'UTC'),
    external_ids            Array(String),
    body                    String CODEC(ZSTD(3)),
    is_overdue              LowCardinality(String) ALIAS if(status = 'active' AND return_at < now64(3), 'true', 'false'),
    owed_minor              Int64 ALIAS total_minor + if(channel IN ('turo', 'getaround', 'ota', 'partner'), platform_minor, 0),
    location_ids            Array(String) ALIAS [pickup_location_id, return_location_id],
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX return_at_minmax return_at TYPE minmax GRANULARITY 1,
    INDEX blocked_until_minmax blocked_until TYPE minmax GRANULARITY 1,
    INDEX customer_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX reservation_bloom external_reservation_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toStartOfQuarter(fromUnixTimestamp64Milli(toInt64(bitShiftRight(id, 22) + 1577836800000), 'UTC'))
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
