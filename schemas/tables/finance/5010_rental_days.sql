-- Grain: what one booking had of one vehicle on one local day, or is billed for on it. Key: (account, local_date,
-- booking, vehicle): a day on which the vehicle was swapped has a row for each. A function of the newest revision of the
-- booking, and of the present while it is out; made again when that changes, and what is no longer the booking's stands
-- with zeros. Only what differs is written; the row that was made last counts: read with FINAL. vehicle is 0 if there is
-- none. The day is that of the booking's zone. rented_s: seconds from pickup to return on that day, spells when these
-- were, in seconds since 1970: from the first moment to the first one after. billed_days: how often the day is one of
-- those billed, at the vehicle that the booking had as the day began. The other columns are as the booking has them now.
-- booking_bloom: all days of a booking; computed_at_minmax: what was made lately.
-- Serves: utilisation and revenue per day by channel, customer and location, and vehicle_days.
CREATE TABLE IF NOT EXISTS rental_days
(
    account     UInt64,
    local_date  Date32,
    booking     UInt64,
    computed_at DateTime64(3, 'UTC'),
    vehicle     UInt64,
    class       UInt64,
    customer    UInt64,
    location    UInt64,
    channel     LowCardinality(String),
    status      LowCardinality(String),
    rented_s    UInt32,
    billed_days UInt32,
    spells      Array(Tuple(begins Int64, ends Int64)),
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX computed_at_minmax computed_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, booking, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
