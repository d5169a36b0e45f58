-- The months of the books, each by its first day, that have entries of records written since an instant: those in whose rollups something
-- may have gone wrong lately, whenever what they are about happened; 0 for all that have entries or rows of rollups. An entry of before
-- entered_at was kept says 1970, and is of none but all. EXPLAIN indexes=1: ledger_entries by entered_at_minmax since an instant, and the
-- columns of days whole for 0.
SELECT DISTINCT toString(addDays(day, 1 - toDayOfMonth(day))) AS month
FROM
(
    SELECT DISTINCT local_date AS day FROM ledger_entries WHERE entered_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT local_date FROM ledger_days WHERE {since:Int64} = 0
    UNION ALL
    SELECT DISTINCT month FROM ledger_months WHERE {since:Int64} = 0
    UNION ALL
    SELECT DISTINCT local_date FROM ledger_flows WHERE {since:Int64} = 0
)
ORDER BY month
