-- One page of an account's entries of the ledger, in the order of the table's key, behind the entry of the four {after} values. The
-- marks are filled by query/ledger.go for the other direction. Rows never change, and are written once, so that there is no need of
-- FINAL, which would keep the server from reading in order. EXPLAIN indexes=1: by the key, the account's days; with a transaction,
-- booking, vehicle or customer only the granules that may hold it.
SELECT local_date, CAST(ledger_account, 'String'), transaction, entry_no, id, amount, CAST(currency, 'String'), use_date, vehicle, class, booking, customer, location,
    CAST(channel, 'String'), CAST(kind, 'String'), source, occurred_at, CAST(purpose, 'String')
FROM ledger_entries
WHERE account = {account:UInt64}
    AND local_date BETWEEN {from:Date32} AND {to:Date32}
    AND (empty({accounts:Array(String)}) OR ledger_account IN {accounts:Array(String)})
    AND (empty({transactions:Array(UInt64)}) OR transaction IN {transactions:Array(UInt64)})
    AND (empty({bookings:Array(UInt64)}) OR booking IN {bookings:Array(UInt64)})
    AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND (empty({kinds:Array(String)}) OR kind IN {kinds:Array(String)})
    AND (empty({sources:Array(UInt64)}) OR source IN {sources:Array(UInt64)})
    AND (empty({currencies:Array(String)}) OR currency IN {currencies:Array(String)})
    AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
    AND (empty({pickups:Array(UInt64)}) OR location IN {pickups:Array(UInt64)})
    AND (empty({purposes:Array(String)}) OR purpose IN {purposes:Array(String)})
    AND ({capital:String} = '' OR (kind = 'expense' AND source IN (/*query expenses_of_capital*/)) = ({capital:String} = 'true'))
    AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
            AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
        OR vehicle IN (/*query vehicles_chosen*/))
    AND ({anywhere:UInt8} OR (local_date, ledger_account, transaction, entry_no)
        >/*behind*/ ({after_date:Date32}, {after_account:String}, {after_transaction:UInt64}, {after_entry:UInt32}))
ORDER BY account ASC/*order*/, local_date ASC/*order*/, ledger_account ASC/*order*/, transaction ASC/*order*/, entry_no ASC/*order*/
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
