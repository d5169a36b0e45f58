-- What ledger_flows lacks of a month of the books, as ledger_days_differences.
SELECT account, CAST(ledger_account, 'String'), toString(local_date), CAST(currency, 'String'), CAST(kind, 'String'), source, booking, vehicle,
    location, CAST(channel, 'String'), customer, CAST(purpose, 'String'),
    sum(amount) AS lacks, sum(debits) AS lacks_debits, sum(entries) AS lacks_entries, sum(checksum) AS lacks_checksum,
    sipHash64(account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose, lacks, lacks_debits,
        lacks_entries, lacks_checksum) AS difference
FROM
(
    SELECT account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose, amount,
        greatest(amount, 0) AS debits, toInt64(1) AS entries, id AS checksum
    FROM ledger_entries FINAL
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
        AND ledger_account IN (/*query ledger_flows_accounts*/)
    UNION ALL
    SELECT account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose, -amount,
        -debits, -entries, toUInt64(-checksum)
    FROM ledger_flows
    WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
)
GROUP BY account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose
HAVING (lacks, lacks_debits, lacks_entries, lacks_checksum) != (0, 0, 0, 0)
SETTINGS max_bytes_before_external_group_by = 500000000, do_not_merge_across_partitions_select_final = 1
