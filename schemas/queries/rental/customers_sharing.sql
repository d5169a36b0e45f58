-- Which of some names, addresses and numbers other customers of the account have too.
SELECT arrayJoin([display_name, email, phone]) AS shared
FROM customers FINAL
WHERE account = {account:UInt64} AND id NOT IN {but:Array(UInt64)} AND shared != '' AND lowerUTF8(shared) IN {words:Array(String)}
GROUP BY shared
