-- The first and the last local date of which an account may have facts: of its vehicles, rentals, entries of the ledger
-- and the facts that it has, and of trips, charges and visits from before all these: what a vehicle has driven may be older than
-- its record. An aggregate over nothing is 1970. EXPLAIN indexes=1: these by the months before the first day.
WITH (
    SELECT (minIf(first, first > toDate32('1970-01-01')), max(last))
    FROM
    (
        SELECT min(ifNull(coalesce(toDate32OrNull(JSONExtractString(body, 'in_service_on')),
                toDate32OrNull(JSONExtractString(body, 'acquired_on'))), toDate32(created_at) - 1)) AS first,
            toDate32('1970-01-01') AS last
        FROM vehicles FINAL WHERE account = {account:UInt64}
        UNION ALL
        SELECT toDate32(min(least(pickup_at, if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at))))
                - 1, toDate32(max(greatest(pickup_at, return_at))) + 1
        FROM bookings FINAL WHERE account = {account:UInt64} AND status IN ('active', 'completed')
        UNION ALL
        SELECT min(local_date), max(local_date) FROM ledger_entries
        WHERE account = {account:UInt64} AND ledger_account IN {accounts:Array(String)}
        UNION ALL
        SELECT min(local_date), max(local_date) FROM rental_days WHERE account = {account:UInt64}
        UNION ALL
        SELECT min(local_date), max(local_date) FROM vehicle_days WHERE account = {account:UInt64}
    )
) AS known
SELECT min(first), known.2
FROM
(
    SELECT known.1 AS first
    UNION ALL
    SELECT toDate32(start_at) - 1 FROM trips
    WHERE account = {account:UInt64} AND start_at < toDateTime64(known.1 + 1, 3, 'UTC') AND NOT deleted
    UNION ALL
    SELECT toDate32(start_at) - 1 FROM charges
    WHERE account = {account:UInt64} AND start_at < toDateTime64(known.1 + 1, 3, 'UTC') AND NOT deleted
    UNION ALL
    SELECT toDate32(start_at) - 1 FROM visits
    WHERE account = {account:UInt64} AND start_at < toDateTime64(known.1 + 1, 3, 'UTC') AND NOT deleted
)
