-- ledger_entries to ledger_daily. An insert is added once: repeated, it has the same token and the same rows.
CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_daily_feed TO ledger_daily AS
SELECT account, local_date, ledger_account, currency, vehicle, class, location, channel, sum(amount) AS amount, count() AS entries
FROM ledger_entries
GROUP BY account, local_date, ledger_account, currency, vehicle, class, location, channel
ORDER BY ALL
