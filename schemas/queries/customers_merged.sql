-- The customers that were merged into some of an account's customers, directly.
SELECT id
FROM customers FINAL
WHERE account = {account:UInt64} AND merged_into IN {into:Array(String)}
ORDER BY id
