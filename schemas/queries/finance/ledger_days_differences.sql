-- What ledger_days lacks of a month of the books, over all accounts, by its keys: added to it, it is what the entries say. Negative where
-- it has too much. difference names the row with all its values.
-- FINAL, because an entry that was written twice counts once. EXPLAIN indexes=1: entries by the partition of the month,
-- the rollup by that of the year.
SELECT account, toString(local_date), CAST(ledger_account, 'String'), CAST(currency, 'String'), class, location,
    CAST(channel, 'String'),
    sum(amount) AS lacks, sum(entries) AS lacks_entries, sum(checksum) AS lacks_checksum,
    sipHash64(account, local_date, ledger_account, currency, class, location, channel, lacks, lacks_entries, lacks_checksum) AS difference
FROM
(
    SELECT account, local_date, ledger_account, currency, class, location, channel, amount, toInt64(1) AS entries, id AS checksum
    FROM ledger_entries FINAL
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
    UNION ALL
    SELECT account, local_date, ledger_account, currency, class, location, channel, -amount, -entries, toUInt64(-checksum)
    FROM ledger_days
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
)
GROUP BY account, local_date, ledger_account, currency, class, location, channel
HAVING (lacks, lacks_entries, lacks_checksum) != (0, 0, 0)
SETTINGS do_not_merge_across_partitions_select_final = 1
