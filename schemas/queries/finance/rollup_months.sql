-- The months of the books, each by its first day, that have entries of records written since an instant: those in whose rollups something
-- may have gone wrong lately; 0 for all that have entries or rows of rollups. EXPLAIN indexes=1: none, the columns of days and instants
-- are read whole.
SELECT DISTINCT toString(addDays(day, 1 - toDayOfMonth(day))) AS month
FROM
(
    SELECT DISTINCT local_date AS day FROM ledger_entries WHERE occurred_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT local_date FROM ledger_days WHERE {since:Int64} = 0
    UNION ALL
    SELECT DISTINCT month FROM ledger_months WHERE {since:Int64} = 0
)
ORDER BY month
