-- Audit: the rollups of the ledger against the entries, by month, account of the ledger and currency: the sums in minor units (debits of
-- ledger_flows alone), how many
-- entries there are, and the sum of their ids, by which two that stand in for each other are told apart. EXPLAIN indexes=1: everything is
-- read.
SELECT account, concat(rollup, ' ', measure.1) AS what, concat(toString(month), ' ', ledger_account, ' ', currency) AS key, '' AS kind,
    toUInt64(0) AS id, toString(month) AS day, measure.2 AS expected, measure.3 AS found
FROM
(
    SELECT account, rollup, addDays(day, 1 - toDayOfMonth(day)) AS month, CAST(ledger_account, 'String') AS ledger_account, CAST(currency, 'String') AS currency,
        arrayJoin([
            ('amount', sumIf(amount, side = 0), sumIf(amount, side = 1)),
            ('debits', sumIf(debits, side = 0), sumIf(debits, side = 1)),
            ('entries', sumIf(entries, side = 0), sumIf(entries, side = 1)),
            ('ids', toInt64(sumIf(checksum, side = 0)), toInt64(sumIf(checksum, side = 1)))]) AS measure
    FROM
    (
        SELECT account, arrayJoin(arrayConcat(['ledger_days', 'ledger_months'],
                if(ledger_account IN (/*query ledger_flows_accounts*/), ['ledger_flows'], []))) AS rollup, 0 AS side, local_date AS day, ledger_account, currency, amount,
            if(rollup = 'ledger_flows', greatest(amount, 0), 0) AS debits, toInt64(1) AS entries, id AS checksum
        FROM ledger_entries FINAL
        UNION ALL
        SELECT account, 'ledger_days', 1, local_date, ledger_account, currency, amount, 0, entries, checksum FROM ledger_days
        UNION ALL
        SELECT account, 'ledger_months', 1, month, ledger_account, currency, amount, 0, entries, checksum FROM ledger_months
        UNION ALL
        SELECT account, 'ledger_flows', 1, local_date, ledger_account, currency, amount, debits, entries, checksum FROM ledger_flows
    )
    GROUP BY account, rollup, month, ledger_account, currency
)
WHERE expected != found
ORDER BY account, what, key
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
