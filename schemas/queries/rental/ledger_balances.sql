-- What was booked on an account's ledger accounts in a span of days of the books, of some vehicles or of everything, in minor units by
-- currency: debits positive. EXPLAIN indexes=1: as in ledger_sums.sql.
SELECT CAST(ledger_account, 'String') AS name, CAST(currency, 'String') AS unit, sum(amount), toUInt64(sum(entries)) AS n
FROM (/*query ledger_sums*/)
WHERE (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY name, unit
HAVING n != 0
ORDER BY name, unit
