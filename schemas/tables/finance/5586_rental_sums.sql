-- Grain: what one completed rental came to, whenever that was. Key: (account, booking). A function of the newest revision of the booking,
-- of the trips of its vehicles and of its entries of the ledger; made again when one of these changes. Only what differs is written; the row
-- that was made last counts: read with FINAL. One that is no longer completed keeps its row, so whoever reads asks bookings which are.
-- gps_m: whole metres that trackers saw during it, of a trip that it began or ended within by the share of its time, rounded trip by trip.
-- revenue and contribution: minor units in the currency of the booking, as report_rental_economics.sql says them. gps_by_day: gps_m by the day, in
-- UTC, on which the trip began, days without any left out; of days whose trips the account does not keep any more it stays as it was. Serves: rental economics, which would read all trips and entries. Kept for ever.
CREATE TABLE IF NOT EXISTS rental_sums
(
    account      UInt64,
    booking      UInt64,
    computed_at  DateTime64(3, 'UTC'),
    gps_m        Int64,
    revenue      Int64,
    contribution Int64,
    gps_by_day   Array(Tuple(Date32, Int64))
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking)
SETTINGS non_replicated_deduplication_window = 10000
