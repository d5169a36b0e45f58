-- The entries of a transaction of the ledger, as it stands, with the numbers of those in ledger_entries. Of two rows, which a
-- repetition after long may leave, the first counts.
SELECT entries, entry_count,
    (SELECT groupUniqArray(entry_no) FROM ledger_entries WHERE account = {account:UInt64} AND transaction = {id:UInt64}) AS present
FROM ledger_transactions
WHERE account = {account:UInt64} AND id = {id:UInt64}
ORDER BY posted_at, write_id
LIMIT 1
