-- Grain: one booking, its newest revision. Key: (account, id); ids rise with the time of making, so that the skip
-- indexes on times find their granules. Filled from record_log, which keeps every revision. Serves: lists with
-- filters, what is due (holds that lapse, no-shows, overdue rentals), the overlap audit, reports. Read with FINAL.
-- body holds the whole record. A part of the table is a quarter of a year of making, as the id tells: FINAL merges
-- what is in several parts, and of the quarters that nobody has written to for an hour the server makes one part
-- each, which is read as it is. Times that are not known are 1970. total_minor is what the booking comes to by the
-- posted charges, without what a platform keeps, which is platform_minor and negative; owed_minor is what the
-- business is to get of it: a platform that collects the price passes on the rest. merge_selector_base is as in
-- record_log. number is what people call it by, like B-1042; given once in the account. tax_minor are the taxes
-- among total_minor, applied_minor is what the deposit paid of it. A no-show is due after the grace of the frozen
-- rate, a day unless it says otherwise, from the pickup or the confirmation, whichever is later; never for one
-- that was written down afterwards. do_not_rent_check is what a look at the do-not-rent list said of whoever rents
-- and drives: clear, unsure or do_not_rent. due_for, due_at and due_location_id are what the desk has to do next:
-- hand over a vehicle that is booked, or take one back that is out, when and where; of bookings that are over
-- nothing is due, and due_for is empty.
CREATE TABLE IF NOT EXISTS bookings
(
    account                 UInt64,
    id                      UInt64 CODEC(NONE), -- hardly compresses, and every list and count reads it
    revision                UInt64,
    created_at              DateTime64(3, 'UTC'),
    updated_at              DateTime64(3, 'UTC'),
    archived_at             Nullable(DateTime64(3, 'UTC')),
    number                  String DEFAULT JSONExtractString(body, 'number'),
    status                  LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    status_since            DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    channel                 LowCardinality(String) DEFAULT JSONExtractString(body, 'channel'),
    external_reservation_id String DEFAULT JSONExtractString(body, 'external_reservation_id'),
    customer_id             String DEFAULT JSONExtractString(body, 'customer_id'),
    driver_ids              Array(String)
        DEFAULT arrayMap(driver -> JSONExtractString(driver, 'customer_id'), JSONExtractArrayRaw(body, 'drivers')),
    vehicle_id              LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_id'),
    vehicle_class_id        LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    pickup_location_id      LowCardinality(String) DEFAULT JSONExtractString(body, 'pickup_location_id'),
    return_location_id      LowCardinality(String) DEFAULT JSONExtractString(body, 'return_location_id'),
    rate_plan_id            LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_plan_id'),
    pickup_at               DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC'),
    return_at               DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC'),
    blocked_from            DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_from'), 3, 'UTC'),
    blocked_until           DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC'),
    hold_expires_at         DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'hold_expires_at'), 3, 'UTC'),
    no_show_at              DateTime64(3, 'UTC') DEFAULT if(JSONExtractBool(body, 'backdated'),
        toDateTime64('2201-01-01 00:00:00', 3, 'UTC'),
        greatest(pickup_at, confirmed_at) + toIntervalMinute(
            ifNull(JSONExtract(body, 'rate_snapshot', 'rate', 'no_show_grace_minutes', 'Nullable(Int64)'), 1440))),
    actual_pickup_at        DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_pickup_at'), 3, 'UTC'),
    actual_return_at        DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_return_at'), 3, 'UTC'),
    confirmed_at            DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'confirmed_at'), 3, 'UTC'),
    cancelled_at            DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'cancellation', 'cancelled_at'), 3, 'UTC'),
    cancelled_by            LowCardinality(String) DEFAULT JSONExtractString(body, 'cancellation', 'cancelled_by'),
    overdue_noted_at        DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'overdue_noted_at'), 3, 'UTC'),
    timezone                LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    conflict                LowCardinality(String) DEFAULT if(JSONExtractBool(body, 'conflict'), 'true', 'false'),
    has_damage              LowCardinality(String)
        DEFAULT if(notEmpty(JSONExtractArrayRaw(body, 'damages')), 'true', 'false'),
    billed_days             UInt32 DEFAULT JSONExtractUInt(body, 'billed_days'),
    currency                LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    total_minor             Int64 DEFAULT arraySum(
        l -> if(JSONExtractString(l, 'type') = 'platform_fee', 0, JSONExtractInt(l, 'amount', 'amount')), lines),
    platform_minor          Int64 DEFAULT arraySum(
        l -> if(JSONExtractString(l, 'type') = 'platform_fee', JSONExtractInt(l, 'amount', 'amount'), 0), lines),
    deposit_status          LowCardinality(String) DEFAULT JSONExtractString(body, 'deposit', 'status'),
    deposit_expires_at      DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'deposit', 'expires_at'), 3, 'UTC'),
    tax_minor               Int64 DEFAULT arraySum(
        l -> if(JSONExtractString(l, 'type') = 'tax', JSONExtractInt(l, 'amount', 'amount'), 0), lines),
    applied_minor           Int64 DEFAULT JSONExtractInt(body, 'deposit', 'applied', 'amount'),
    do_not_rent_check       LowCardinality(String) DEFAULT multiIf(
        arrayExists(m -> JSONExtractString(m, 'do_not_rent_check') = 'do_not_rent', matches), 'do_not_rent',
        notEmpty(matches), 'unsure',
        'clear'),
    listed_customer_ids     Array(String) DEFAULT arrayMap(m -> JSONExtractString(m, 'listed_customer_id'), matches),
    external_ids            Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    lines                   EPHEMERAL JSONExtractArrayRaw(body, 'charges'),
    matches                 EPHEMERAL JSONExtractArrayRaw(body, 'do_not_rent_matches'),
    body                    String CODEC(ZSTD(3)),
    is_overdue              LowCardinality(String)
        ALIAS if(status = 'active' AND return_at < now64(3), 'true', 'false'),
    owed_minor              Int64
        ALIAS total_minor + if(channel IN ('turo', 'getaround', 'ota', 'partner'), platform_minor, 0),
    location_ids            Array(String) ALIAS [pickup_location_id, return_location_id],
    due_for                 LowCardinality(String) ALIAS multiIf(
        status IN ('pending', 'confirmed'), 'pickup',
        status = 'active', 'return',
        ''),
    due_at                  DateTime64(3, 'UTC') ALIAS multiIf(
        status IN ('pending', 'confirmed'), pickup_at,
        status = 'active', return_at,
        fromUnixTimestamp64Milli(toInt64(0), 'UTC')),
    due_location_id         String ALIAS multiIf(
        status IN ('pending', 'confirmed'), pickup_location_id,
        status = 'active', return_location_id,
        ''),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX return_at_minmax return_at TYPE minmax GRANULARITY 1,
    INDEX blocked_until_minmax blocked_until TYPE minmax GRANULARITY 1,
    INDEX customer_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX reservation_bloom external_reservation_id TYPE bloom_filter GRANULARITY 1,
    INDEX listed_customers_bloom listed_customer_ids TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toStartOfQuarter(fromUnixTimestamp64Milli(toInt64(bitShiftRight(id, 22) + 1577836800000), 'UTC'))
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1, merge_selector_base = 12
