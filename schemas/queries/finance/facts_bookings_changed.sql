-- The bookings of all accounts of which something was written at an instant or later: a revision by the clock of
-- records, or an entry of the ledger by its own. Those that are out are among them if out is true, as their days go on,
-- and those that are said to have been returned later than that.
-- EXPLAIN indexes=1: record_log by at_minmax, ledger_entries by entered_at_minmax.
SELECT account, arraySort(groupUniqArray(id)) AS bookings
FROM
(
    SELECT account, id FROM record_log
    WHERE kind = 'booking' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT account, source FROM ledger_entries
    WHERE kind = 'booking' AND entered_at >= fromUnixTimestamp64Milli({entered:Int64}, 'UTC')
    UNION ALL
    SELECT account, id FROM bookings FINAL WHERE {out:Bool}
        AND (status = 'active' OR status = 'completed'
            AND greatest(return_at, actual_return_at) >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
)
GROUP BY account
ORDER BY account
