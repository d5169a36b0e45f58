-- The sums of the books from the entries, into an empty ledger_daily, as ledger_daily_feed makes them.
INSERT INTO ledger_daily (account, local_date, ledger_account, currency, vehicle, class, location, channel, amount, entries)
SELECT account, local_date, ledger_account, currency, vehicle, class, location, channel, sum(amount), count()
FROM ledger_entries FINAL
GROUP BY account, local_date, ledger_account, currency, vehicle, class, location, channel
