-- report: Deposits held
-- about: What customers left as deposits and have not got back: it is theirs. As of the last day of the span, with what came
--   and went in it. A deposit that is only authorized is no money yet.
-- bases: accrual
-- groups: booking customer total
-- figure opening money: Held before the first day of the span.
-- figure taken money: Taken in the span.
-- figure given money: Given back, or kept for what was owed, in the span.
-- figure held money [ledger minus standing deposits_held]: Held at the end of the last day.
-- Rows on which nothing stands or moved are left out. EXPLAIN indexes=1: ledger_flows by account,
-- ledger_account and local_date.
SELECT if({group:String} = 'total', '', toString(if({group:String} = 'customer', customer, booking))) AS key,
    -sumIf(amount, local_date < {from:Date32}) AS opening, sumIf(debits - amount, local_date >= {from:Date32}) AS taken,
    sumIf(debits, local_date >= {from:Date32}) AS given, -sum(amount) AS held
FROM ledger_flows
WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND ledger_account = 'deposits_held' AND currency = {currency:String}
    AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
GROUP BY key
HAVING opening != 0 OR taken != 0 OR given != 0 OR held != 0
