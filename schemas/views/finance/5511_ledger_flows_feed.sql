-- ledger_entries to ledger_flows. The accounts are those of ledger_flows_accounts.
CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_flows_feed TO ledger_flows AS
SELECT account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose, sum(e.amount) AS amount,
    sum(greatest(e.amount, 0)) AS debits, toInt64(count()) AS entries, sum(id) AS checksum, toUInt64(0) AS repair
FROM ledger_entries AS e
WHERE ledger_account IN ('cash', 'accounts_receivable', 'platform_receivable', 'deposits_held', 'tax_payable', 'tax_receivable')
GROUP BY account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose
