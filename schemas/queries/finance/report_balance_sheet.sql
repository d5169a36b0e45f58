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
-- ledger_entries by account and local_date.
SELECT if({group:String} = 'total', '', if(transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {measures:Array(String)}, '') = '',
        CAST(ledger_account, 'String'), 'result')) AS key,
    sumIf(amount, local_date < {from:Date32}) AS opening, sumIf(amount, local_date >= {from:Date32}) AS movement,
    sum(amount) AS balance
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND currency = {currency:String}
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
