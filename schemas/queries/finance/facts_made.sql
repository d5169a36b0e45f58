-- The months of which facts were made from nothing by one version of the program, by account, and since when.
SELECT account, groupUniqArray(local_date) AS months, min(records_until), min(entries_until) FROM fact_runs
WHERE version = {version:UInt32} AND account != 0
GROUP BY account
