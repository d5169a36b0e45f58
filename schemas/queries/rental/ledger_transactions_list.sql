-- One page of an account's transactions of the ledger, in the order of posted_at and id, behind ({after_ms}, {after_id}). The marks are
-- filled by query/ledger.go for the other direction. EXPLAIN indexes=1: by the key, the account's part; with a source, booking or
-- customer only the granules that may hold it.
SELECT id, kind, source, revision, occurred_at, posted_at, known_on, actor, request_id, booking, customer, vehicles, currencies, debits, entry_count
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
    AND (posted_at, id) >/*behind*/ (fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_id:UInt64})
ORDER BY posted_at ASC/*order*/, id ASC/*order*/
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
