-- report: Balance sheet
-- about: What stands on each account of the ledger at the end of the span: what is owned and what others owe is positive, what
--   is owed is negative, and so are what owners have put in (equity) and the profit so far (result). The total is nothing, or
--   the books do not balance.
-- bases: accrual
-- groups: account total
-- figure opening money: What stood before the first day of the span.
-- figure movement money [ledger asset, liability, equity, revenue, cost]: What was added in the span.
-- figure balance money [ledger standing asset, liability, equity, revenue, cost]: What stands at the end of its last day.
-- The result has no link: its entries are those of profit_and_loss from the first day of the books. EXPLAIN indexes=1:
-- ledger_days by account and local_date.
SELECT if({group:String} = 'total', '', if(transform(account_of, {accounts:Array(String)}, {measures:Array(String)}, '') = '',
        account_of, 'result')) AS key,
    sum(before) AS opening, sum(since) AS movement, opening + movement AS balance
FROM (
    SELECT CAST(ledger_account, 'String') AS account_of, sumIf(amount, local_date < {from:Date32}) AS before,
        sumIf(amount, local_date >= {from:Date32}) AS since, sum(entries) AS n
    FROM ledger_days
    WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND currency = {currency:String}
    GROUP BY ledger_account
    HAVING n != 0
)
GROUP BY key
