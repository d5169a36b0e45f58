-- How many requests a minute the operator gave to each credential of an account; null if none were given.
SELECT JSONExtract(body, 'rate_limit', 'Nullable(Int64)')
FROM accounts FINAL
WHERE account = {account:UInt64}
LIMIT 1
