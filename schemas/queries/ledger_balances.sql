-- The balances of an account's ledger accounts at the end of a day of the books, in minor units by currency: debits positive.
SELECT CAST(ledger_account, 'String') AS name, CAST(currency, 'String') AS unit, sum(amount), sum(entries)
FROM ledger_daily
WHERE account = {account:UInt64} AND local_date <= {on:Date32}
GROUP BY name, unit
ORDER BY name, unit
