-- What ledger_taxes lacks of a month of the books, as ledger_days_differences.
SELECT account, CAST(currency, 'String'), booking, CAST(purpose, 'String'), occurred_at, transaction, charged, toString(local_date), entry_no, location,
    CAST(channel, 'String'), sum(amount) AS lacks, sum(entries) AS lacks_entries, sum(checksum) AS lacks_checksum,
    sipHash64(account, currency, booking, purpose, occurred_at, transaction, charged, local_date, entry_no, location, channel, lacks, lacks_entries,
        lacks_checksum) AS difference
FROM
(
    SELECT account, currency, booking, purpose, occurred_at, transaction, toUInt8(amount < 0) AS charged, local_date, entry_no, location, channel,
        amount, toInt64(1) AS entries, id AS checksum
    FROM ledger_entries FINAL
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
        AND ledger_account = 'tax_payable' AND kind = 'booking' AND startsWith(purpose, 'tax, ')
    UNION ALL
    SELECT account, currency, booking, purpose, occurred_at, transaction, charged, local_date, entry_no, location, channel, -amount, -entries,
        toUInt64(-checksum)
    FROM ledger_taxes
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
)
GROUP BY account, currency, booking, purpose, occurred_at, transaction, charged, local_date, entry_no, location, channel
HAVING (lacks, lacks_entries, lacks_checksum) != (0, 0, 0)
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
