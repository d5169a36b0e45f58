-- What the entries that ledger_entries_list.sql gives on all its pages come to, in minor units by currency; the conditions are the same.
-- FINAL, because an entry that was written twice counts once. EXPLAIN indexes=1: as in ledger_entries_list.sql.
SELECT CAST(currency, 'String') AS unit, sum(amount), count()
FROM ledger_entries FINAL
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
GROUP BY unit
ORDER BY unit
SETTINGS do_not_merge_across_partitions_select_final = 1
