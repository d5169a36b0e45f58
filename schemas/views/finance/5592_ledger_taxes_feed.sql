-- ledger_entries to ledger_taxes: entries of bookings whose purpose names a tax.
CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_taxes_feed TO ledger_taxes AS
SELECT account, currency, booking, purpose, occurred_at, transaction, toUInt8(e.amount < 0) AS charged, local_date, entry_no, location, channel,
    sum(e.amount) AS amount, toInt64(count()) AS entries, sum(id) AS checksum, toUInt64(0) AS repair
FROM ledger_entries AS e
WHERE ledger_account = 'tax_payable' AND kind = 'booking' AND startsWith(purpose, 'tax, ')
GROUP BY account, currency, booking, purpose, occurred_at, transaction, charged, local_date, entry_no, location, channel
