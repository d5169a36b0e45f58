-- What was booked on an account's ledger accounts in a span of days of the books, of some vehicles or of everything, in minor units by
-- currency: debits positive. EXPLAIN indexes=1: by the key, the account's days.
SELECT CAST(ledger_account, 'String') AS name, CAST(currency, 'String') AS unit, sum(amount), sum(entries)
FROM ledger_daily
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY name, unit
ORDER BY name, unit
