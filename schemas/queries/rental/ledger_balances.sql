-- What was booked on an account's ledger accounts in a span of days of the books, of some vehicles or of everything, in minor units by
-- currency: debits positive. FINAL, because an entry that was written twice counts once. EXPLAIN indexes=1: by the key, the account's days.
SELECT CAST(ledger_account, 'String') AS name, CAST(currency, 'String') AS unit, sum(amount), count()
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY name, unit
ORDER BY name, unit
SETTINGS do_not_merge_across_partitions_select_final = 1
