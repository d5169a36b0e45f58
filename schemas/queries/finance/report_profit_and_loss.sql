-- report: Profit and loss
-- about: What was earned and spent on each account of the ledger in the span, as an accountant wants it. Earnings are positive,
--   costs and what lessens earnings negative; the total is the profit.
-- bases: accrual
-- groups: account total day week month quarter year
-- figure amount money [ledger minus revenue, cost]: What was booked in the span; revenue positive, costs negative.
-- figure entries count: How many entries that were.
-- EXPLAIN indexes=1: as in ledger_sums.sql.
SELECT if({group:String} = 'account', CAST(ledger_account, 'String'), if({group:String} = 'total', '', toString(toDate32(dateTrunc(
        if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since))))) AS key,
    -sum(e.amount) AS amount, sum(e.entries) AS entries
FROM (/*query ledger_sums*/) AS e
WHERE currency = {currency:String} AND ledger_account IN (SELECT arrayJoin(arrayFilter((a, m) -> m != '', {accounts:Array(String)}, {measures:Array(String)})))
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY key
HAVING entries != 0
