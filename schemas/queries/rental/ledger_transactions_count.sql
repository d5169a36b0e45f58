-- How many transactions ledger_transactions_list.sql gives on all its pages; the conditions are the same.
SELECT count()
FROM ledger_transactions FINAL
WHERE account = {account:UInt64}
    AND known_on BETWEEN {from:Date32} AND {to:Date32}
    AND (empty({ids:Array(UInt64)}) OR id IN {ids:Array(UInt64)})
    AND (empty({kinds:Array(String)}) OR kind IN {kinds:Array(String)})
    AND (empty({sources:Array(UInt64)}) OR source IN {sources:Array(UInt64)})
    AND (empty({bookings:Array(UInt64)}) OR booking IN {bookings:Array(UInt64)})
    AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
    AND (empty({vehicles:Array(UInt64)}) OR hasAny(vehicles, {vehicles:Array(UInt64)}))
    AND (empty({accounts:Array(String)}) OR id IN (SELECT transaction FROM ledger_entries WHERE account = {account:UInt64} AND ledger_account IN {accounts:Array(String)}))
