-- What is wrong with the ledger: transactions whose entries do not sum to zero for each currency and day, those of which entries are
-- missing, and entries that stand twice. All must be zero.
SELECT
    (
        SELECT count() FROM (SELECT 1 FROM ledger_entries FINAL GROUP BY account, transaction, currency, local_date HAVING sum(amount) != 0)
    ) AS unbalanced,
    (
        SELECT count()
        FROM ledger_transactions AS t FINAL
        LEFT JOIN (SELECT account, transaction, uniqExact(entry_no) AS present FROM ledger_entries GROUP BY account, transaction) AS e
            ON e.account = t.account AND e.transaction = t.id
        WHERE e.present != t.entry_count
    ) AS incomplete,
    (
        SELECT count() FROM (SELECT 1 FROM ledger_entries GROUP BY account, transaction, entry_no HAVING count() > 1)
    ) AS doubled
