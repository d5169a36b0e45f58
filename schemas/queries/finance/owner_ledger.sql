-- What stands in the ledger because of an owner's vehicles in a span of days of the books: by vehicle, booking, account and, of costs, the
-- record that they are of. Deposits, taxes and cash are on other accounts than those that are asked for.
SELECT vehicle, booking, ledger_account, if(kind = 'expense', source, 0) AS cost, kind, sum(amount) AS total, min(local_date) AS first_on
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
    AND vehicle IN {vehicles:Array(UInt64)} AND currency = {currency:String} AND ledger_account IN {accounts:Array(String)}
GROUP BY vehicle, booking, ledger_account, cost, kind
HAVING total != 0
ORDER BY vehicle, booking, ledger_account, cost
