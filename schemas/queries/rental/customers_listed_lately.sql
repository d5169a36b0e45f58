-- Customers of all accounts that are on the do-not-rent list and were written since an instant.
SELECT account, id
FROM customers FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND (do_not_rent = 'true' OR risk_level = 'blocked')
ORDER BY account, id
