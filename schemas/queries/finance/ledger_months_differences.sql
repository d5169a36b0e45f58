-- What ledger_months lacks of a month of the books, as ledger_days_differences.
SELECT account, toString(month), CAST(ledger_account, 'String'), CAST(currency, 'String'), vehicle, class, location, CAST(channel, 'String'), customer,
    sum(amount) AS lacks, sum(entries) AS lacks_entries, sum(checksum) AS lacks_checksum,
    sipHash64(account, month, ledger_account, currency, vehicle, class, location, channel, customer, lacks, lacks_entries, lacks_checksum) AS difference
FROM
(
    SELECT account, {month:Date32} AS month, ledger_account, currency, vehicle, class, location, channel, customer, amount, toInt64(1) AS entries, id AS checksum
    FROM ledger_entries FINAL
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
    UNION ALL
    SELECT account, month, ledger_account, currency, vehicle, class, location, channel, customer, -amount, -entries, toUInt64(-checksum)
    FROM ledger_months
    WHERE month = {month:Date32}
)
GROUP BY account, month, ledger_account, currency, vehicle, class, location, channel, customer
HAVING (lacks, lacks_entries, lacks_checksum) != (0, 0, 0)
SETTINGS do_not_merge_across_partitions_select_final = 1
