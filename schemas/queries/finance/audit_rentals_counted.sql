-- Audit: rentals that count in rental_sums and are none: whose booking was taken up again or archived since. Bookings that changed since
-- {until} are left out, and everything until all facts are made by this version of the program. EXPLAIN indexes=1: everything is read, by narrow columns.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete
SELECT b.account AS account, 'rental sums' AS what, if(number = '', concat('bkg_', toString(b.id)), number) AS key, 'booking' AS kind,
    b.id AS id, toString(s.day) AS day, toInt64(0) AS expected, toInt64(1) AS found
FROM
(
    SELECT account, id, number
    FROM bookings FINAL
    WHERE complete AND (status != 'completed' OR archived_at IS NOT NULL) AND updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
) AS b
INNER JOIN (SELECT account, booking, day FROM rental_sums FINAL WHERE completed) AS s ON s.account = b.account AND s.booking = b.id
ORDER BY account, key
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
