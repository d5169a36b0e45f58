-- The bookings of all accounts of which something was written at an instant or later: a revision by the clock of
-- records, or an entry of the ledger by its own; and those that are completed and had a vehicle on the days of a trip of it that was
-- written since then. Those that are out are among them if out is true, as their days go on,
-- and those that are said to have been returned later than that.
-- EXPLAIN indexes=1: record_log by at_minmax, ledger_entries by entered_at_minmax, trips by updated_at_minmax, rental_days by the months
-- of these trips.
WITH trips_written AS
(
    SELECT account, vehicle, toDate32(start_at) - 1 AS first, toDate32(end_at) + 1 AS last FROM trips
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
    SELECT r.account, r.booking
    FROM rental_days AS r INNER JOIN trips_written AS t ON t.account = r.account AND t.vehicle = r.vehicle
    WHERE r.status = 'completed' AND r.local_date BETWEEN t.first AND t.last
        AND r.local_date BETWEEN (SELECT min(first) FROM trips_written) AND (SELECT max(last) FROM trips_written)
    UNION ALL
    SELECT account, id FROM bookings FINAL WHERE {out:Bool}
        AND (status = 'active' OR status = 'completed'
            AND greatest(return_at, actual_return_at) >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
)
GROUP BY account
ORDER BY account
