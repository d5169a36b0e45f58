-- Audit: booking_sums against the bookings: whether it has those that were ever on the books, and what was agreed for their days together,
-- once all facts are made by this version of the program, or were made before it looked for the first time. Bookings that changed since
-- {until} are left out. EXPLAIN indexes=1: everything is read, in the order of the keys.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete
SELECT b.account AS account, compared.1 AS what, if(number = '', concat('bkg_', toString(b.booking)), number) AS key, 'booking' AS kind,
    b.booking AS id, toString(toDate32(pickup_at)) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, id AS booking, number, pickup_at, agreed_minor,
        toInt64(archived_at IS NULL AND (confirmed_at > toDateTime64(0, 3, 'UTC') OR status IN ('confirmed', 'active', 'completed'))) AS booked
    FROM bookings FINAL
    WHERE updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND complete AND account IN (SELECT DISTINCT account FROM vehicle_days)
) AS b
LEFT JOIN (SELECT account, booking, toInt64(on_books) AS made, arraySum(agreed) AS by_day, arraySum(month_agreed) AS by_month FROM booking_sums FINAL) AS s
    ON s.account = b.account AND s.booking = b.booking
ARRAY JOIN [('bookings on the books', booked, made), ('agreed', if(booked = 1 AND made = 1, agreed_minor, 0), if(booked = 1 AND made = 1, by_day, 0)),
    ('agreed by month', if(booked = 1 AND made = 1, agreed_minor, 0), if(booked = 1 AND made = 1, by_month, 0))] AS compared
WHERE expected != found
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
