-- The customers that were merged into some of an account's customers, directly, each with the one it was merged into.
SELECT id, merged_into
FROM customers FINAL
WHERE account = {account:UInt64} AND merged_into IN {into:Array(String)}
ORDER BY id
