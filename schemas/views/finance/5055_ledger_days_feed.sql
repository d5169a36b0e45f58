-- ledger_entries to ledger_days.
CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_days_feed TO ledger_days AS
SELECT account, local_date, ledger_account, currency, class, location, channel, sum(amount) AS amount, toInt64(count()) AS entries,
    sum(id) AS checksum, toUInt64(0) AS repair
FROM ledger_entries
GROUP BY account, local_date, ledger_account, currency, class, location, channel
