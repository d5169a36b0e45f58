-- The newest revisions of the records that the {limit} newest transactions of the ledger are about, over all accounts, with what their
-- entries sum to: names are "<ledger account> <currency>". Records that were written within a minute are left out: their postings may
-- be under way.
WITH sample AS
(
    SELECT account, kind, source
    FROM ledger_transactions
    GROUP BY account, kind, source
    ORDER BY max(posted_at) DESC
    LIMIT {limit:UInt32}
)
SELECT r.account, CAST(r.kind, 'String'), r.id, r.body, e.names, e.sums
FROM
(
    SELECT account, kind, id, argMax(body, revision) AS body, max(at) AS newest
    FROM record_log
    WHERE (account, kind, id) IN sample
    GROUP BY account, kind, id
    HAVING newest < now64(3) - INTERVAL 1 MINUTE
) AS r
LEFT JOIN
(
    SELECT account, kind, source, groupArray(name) AS names, groupArray(total) AS sums
    FROM
    (
        SELECT account, kind, source, concat(CAST(ledger_account, 'String'), ' ', CAST(currency, 'String')) AS name, sum(amount) AS total
        FROM ledger_entries
        WHERE (account, kind, source) IN sample
        GROUP BY account, kind, source, name
    )
    GROUP BY account, kind, source
) AS e ON e.account = r.account AND e.kind = r.kind AND e.source = r.id
