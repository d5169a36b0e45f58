-- Audit: rental_days against the bookings: the seconds from pickup to return of those that are over (none of those that never began), and how
-- many days are billed by their frozen price; and whether rental_sums has what each came to that is completed, once all facts are made by this version of the
-- program, or were made before it looked for the first time. Bookings that changed since {until} are left out, and accounts of which no facts were ever
-- made. EXPLAIN indexes=1: everything is read.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete
SELECT b.account AS account, compared.1 AS what, if(number = '', concat('bkg_', toString(b.booking)), number) AS key, 'booking' AS kind,
    b.booking AS id, ifNull(first_day, toString(toDate32(began))) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, id AS booking, number, status,
        if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at) AS began,
        if(toUnixTimestamp64Milli(actual_return_at) = 0, return_at, actual_return_at) AS ended,
        if(status = 'completed', greatest(0, intDiv(toUnixTimestamp64Milli(ended), 1000) - intDiv(toUnixTimestamp64Milli(began), 1000)), 0) AS rented,
        toInt64(length(arrayDistinct(JSONExtract(body, 'rate_snapshot', 'days', 'Array(Tuple(date String))')))) AS billed
    FROM bookings FINAL
    WHERE status != 'active' AND updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND archived_at IS NULL
        AND account IN (SELECT DISTINCT account FROM vehicle_days) AND return_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
) AS b
LEFT JOIN
(
    SELECT account, booking, toInt64(sum(rented_s)) AS seconds, toInt64(sum(billed_days)) AS days, toNullable(toString(min(local_date))) AS first_day
    FROM rental_days FINAL
    GROUP BY account, booking
) AS f ON f.account = b.account AND f.booking = b.booking
LEFT JOIN (SELECT account, booking, toInt64(completed) AS made FROM rental_sums FINAL) AS s ON s.account = b.account AND s.booking = b.booking
ARRAY JOIN [('rented seconds', rented, seconds),
    ('billed days', if(status = 'completed', if(billed = 0, days, billed), 0), days),
    ('rental sums', if(status = 'completed' AND complete, 1, made), made)] AS compared
WHERE expected != found
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
