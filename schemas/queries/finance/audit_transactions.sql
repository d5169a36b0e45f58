-- Audit: what is wrong with the transactions of the ledger: entries of one that do not sum to zero for a currency and day (unbalanced, in
-- minor units), fewer entries than it has (incomplete), and rows of entries that stand twice (doubled: sums count them once, by FINAL).
-- kind and id are those of the record that was the cause. EXPLAIN indexes=1: everything is read.
SELECT account, what, key, kind, id, day, expected, found
FROM
(
    SELECT account, 'unbalanced' AS what, concat(toString(local_date), ' ', toString(currency), ' transaction ltx_', toString(transaction)) AS key,
        CAST(any(kind), 'String') AS kind, any(source) AS id, toString(local_date) AS day, toInt64(0) AS expected, sum(amount) AS found
    FROM ledger_entries FINAL
    GROUP BY account, transaction, currency, local_date
    HAVING found != 0
    UNION ALL
    SELECT t.account, 'incomplete', concat('transaction ltx_', toString(t.id)), CAST(t.kind, 'String'), t.source, toString(t.known_on),
        toInt64(t.entry_count), toInt64(e.present)
    FROM ledger_transactions AS t FINAL
    LEFT JOIN (SELECT account, transaction, uniqExact(entry_no) AS present FROM ledger_entries GROUP BY account, transaction) AS e
        ON e.account = t.account AND e.transaction = t.id
    WHERE e.present != t.entry_count
    UNION ALL
    SELECT account, 'doubled', concat('transaction ltx_', toString(transaction)), CAST(any(kind), 'String'), any(source), toString(local_date),
        toInt64(uniqExact(entry_no)), toInt64(count())
    FROM ledger_entries
    GROUP BY account, transaction, local_date
    HAVING count() != uniqExact(ledger_account, entry_no)
)
ORDER BY account, what, key
LIMIT {limit:UInt32} BY account
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
