-- report: Deposits held
-- about: What customers left as deposits and have not got back: it is theirs. As of the last day of the span, with what came
--   and went in it. A deposit that is only authorized is no money yet.
-- bases: accrual
-- groups: booking customer total
-- figure opening money: Held before the first day of the span.
-- figure taken money: Taken in the span.
-- figure given money: Given back, or kept for what was owed, in the span.
-- figure held money [ledger minus standing deposits_held]: Held at the end of the last day.
-- Rows on which nothing stands or moved are left out. EXPLAIN indexes=1: ledger_entries by account and local_date, and its
-- ledger_account by granule.
SELECT if({group:String} = 'total', '', toString(if({group:String} = 'customer', customer, booking))) AS key,
    -sumIf(amount, local_date < {from:Date32}) AS opening, -sumIf(amount, local_date >= {from:Date32} AND amount < 0) AS taken,
    sumIf(amount, local_date >= {from:Date32} AND amount > 0) AS given, -sum(amount) AS held
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND ledger_account = 'deposits_held' AND currency = {currency:String}
    AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
GROUP BY key
HAVING opening != 0 OR taken != 0 OR given != 0 OR held != 0
SETTINGS do_not_merge_across_partitions_select_final = 1
