-- Every account with what its facts hang on: its own zone and currency, the days for which it keeps trips, 0 for ever,
-- and whether it has vehicles; those that were archived too, as their books stand.
SELECT id, timezone, JSONExtractString(body, 'currency'), retention_days, id IN (SELECT account FROM vehicles)
FROM accounts FINAL
WHERE {account:UInt64} = 0 OR id = {account:UInt64}
ORDER BY id
