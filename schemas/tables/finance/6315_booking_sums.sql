-- Grain: what one booking was agreed to bring, and when it was on the books. Key: (account, booking). A function of the newest revision of the
-- booking; made again when that changes. Only what differs is written; the row that was made last counts: read with FINAL. on_books: it was
-- confirmed at some time, and is not archived. vehicle: that which it has, or had last; class: that which was booked, 0 if none was. confirmed_on
-- and ended_on: the local days, in the zone of the booking, on which it came on the books and was given up (cancelled, lapsed or a no-show),
-- 2299-12-31 if it never was. first, last: of its days. days: those that it is billed, local where it is; agreed: what was agreed
-- for each, in minor units of its currency, without taxes; agreed_time: of that, what is for time and miles. months, by their first days, month_days and
-- month_agreed: the same days added up. Serves: pace, in reports and forecasts, which would read the prices of all bookings. Kept for ever.
CREATE TABLE IF NOT EXISTS booking_sums
(
    account      UInt64,
    booking      UInt64,
    computed_at  DateTime64(3, 'UTC'),
    on_books     Bool,
    vehicle      UInt64,
    class        UInt64,
    location     UInt64,
    channel      LowCardinality(String),
    customer     UInt64,
    currency     LowCardinality(String),
    confirmed_on Date32,
    ended_on     Date32,
    first        Date32,
    last         Date32,
    days         Array(Date32),
    agreed       Array(Int64),
    agreed_time  Array(Int64),
    months       Array(Date32),
    month_days   Array(Int64),
    month_agreed Array(Int64),
    INDEX first_minmax first TYPE minmax GRANULARITY 1,
    INDEX last_minmax last TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking)
SETTINGS non_replicated_deduplication_window = 10000
