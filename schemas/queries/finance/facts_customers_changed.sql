-- The customers of all accounts of whom entries of the ledger were written at an instant or later, by the clock of these, and the month of
-- the first of them. EXPLAIN indexes=1: ledger_entries by entered_at_minmax.
SELECT account, arraySort(groupUniqArray(customer)) AS customers, toStartOfMonth(min(local_date)) AS since
FROM ledger_entries
WHERE entered_at >= fromUnixTimestamp64Milli({entered:Int64}, 'UTC') AND customer != 0
GROUP BY account
ORDER BY account
