-- Grain: one booking on one local day on which it had a vehicle or is billed. Key: (account, local_date, booking). A
-- function of the newest revision of the booking; made again when that changes, and a day that is no longer the
-- booking's stands with zeros. The row that was made last counts: read with FINAL. vehicle is the one it had that day,
-- 0 if none. rented_s: seconds from pickup to return on that day; billed_days: 1 if the day is one of those billed.
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
    billed_days UInt32
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, booking)
SETTINGS non_replicated_deduplication_window = 10000
