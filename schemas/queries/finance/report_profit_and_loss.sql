-- report: Profit and loss
-- about: What was earned and spent on each account of the ledger in the span, as an accountant wants it. Earnings are positive,
--   costs and what lessens earnings negative; the total is the profit.
-- bases: accrual
-- groups: account total day week month quarter year
-- figure amount money [ledger minus revenue, cost]: What was booked in the span; revenue positive, costs negative.
-- figure entries count: How many entries that were.
-- EXPLAIN indexes=1: ledger_entries by account and local_date.
SELECT if({group:String} = 'account', CAST(ledger_account, 'String'), if({group:String} = 'total', '', toString(toDate32(dateTrunc(
        if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date))))) AS key,
    -sum(e.amount) AS amount, count() AS entries
FROM ledger_entries AS e FINAL
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND currency = {currency:String}
    AND transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {measures:Array(String)}, '') != ''
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
