-- What stands in the ledger because of vehicles in spans of days of the books, which do not overlap, each for a share: by vehicle, share,
-- booking, account, day, currency ('' asks for all) and, of costs, the record that they are of. Deposits, taxes and cash are on other
-- accounts than those that are asked for.
SELECT entries.vehicle, share, booking, ledger_account, if(kind = 'expense', source, 0) AS cost, kind, currency, sum(amount) AS total,
    local_date
FROM
(
    SELECT vehicle, booking, ledger_account, source, kind, currency, amount, local_date
    FROM ledger_entries FINAL
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
        AND vehicle IN {vehicles:Array(UInt64)} AND (currency = {currency:String} OR {currency:String} = '')
        AND ledger_account IN {accounts:Array(String)}
) AS entries
INNER JOIN
(
    SELECT span.1 AS vehicle, span.2 AS since, span.3 AS until, span.4 AS share
    FROM (SELECT arrayJoin(arrayZip({vehicles:Array(UInt64)}, {since:Array(Date32)}, {until:Array(Date32)}, {shares:Array(Int64)})) AS span)
) AS spans ON entries.vehicle = spans.vehicle
WHERE local_date BETWEEN since AND until
GROUP BY entries.vehicle, share, booking, ledger_account, cost, kind, currency, local_date
HAVING total != 0
ORDER BY entries.vehicle, share, booking, ledger_account, cost, local_date
