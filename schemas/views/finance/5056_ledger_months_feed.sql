-- ledger_entries to ledger_months.
CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_months_feed TO ledger_months AS
SELECT account, addDays(local_date, 1 - toDayOfMonth(local_date)) AS month, ledger_account, currency, vehicle, class, location, channel, customer, sum(amount) AS amount,
    toInt64(count()) AS entries, sum(id) AS checksum, toUInt64(0) AS repair
FROM ledger_entries
GROUP BY account, month, ledger_account, currency, vehicle, class, location, channel, customer
