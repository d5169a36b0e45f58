-- The bookings of all accounts of which something was written at an instant or later: a revision by the clock of
-- records, or an entry of the ledger by its own; and those that are completed and had a vehicle on the days of a trip of it that was
-- written since then. Those that are out are among them if out is true, as their days go on,
-- and those that are said to have been returned later than that.
-- Days of a trip are at most 64, as in facts_rental_sums.sql. EXPLAIN indexes=1: record_log by at_minmax, ledger_entries by
-- entered_at_minmax, trips by updated_at_minmax, rental_days by the months and keys of these days.
WITH driven AS
(
    SELECT DISTINCT account, vehicle, toDate32(arrayJoin(range(toInt32(toDate32(start_at)) - 1,
        toInt32(least(toDate32(end_at), toDate32(start_at) + 62)) + 2))) AS day
    FROM trips
    WHERE updated_at >= fromUnixTimestamp64Milli({entered:Int64}, 'UTC')
)
SELECT account, arraySort(groupUniqArray(id)) AS bookings
FROM
(
    SELECT account, id FROM record_log
    WHERE kind = 'booking' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT account, arrayJoin(arrayFilter(id -> id != 0, [booking, if(kind = 'booking', source, 0)])) FROM ledger_entries
    WHERE entered_at >= fromUnixTimestamp64Milli({entered:Int64}, 'UTC')
    UNION ALL
    SELECT account, booking FROM rental_days
    WHERE status = 'completed' AND (account, vehicle, local_date) IN (SELECT account, vehicle, day FROM driven)
        AND local_date BETWEEN (SELECT min(day) FROM driven) AND (SELECT max(day) FROM driven)
    UNION ALL
    SELECT account, id FROM bookings FINAL WHERE {out:Bool}
        AND (status = 'active' OR status = 'completed'
            AND greatest(return_at, actual_return_at) >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
)
GROUP BY account
ORDER BY account
